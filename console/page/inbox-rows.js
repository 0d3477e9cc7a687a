/** The rows of the inbox, by their questions: what is new is added, what is gone is taken away, the rest stays. */
import { askRow } from './inbox-row.js';

/** @typedef {import('./data/api-types.ts').InboxPage} InboxPage */

/**
 * The rows that are there, by their questions.
 * @param {HTMLElement} rows
 */
export function listState(rows) {
  /** @type {Map<string, ReturnType<typeof askRow>>} */
  const known = new Map();
  /** @type {string | undefined} */
  let next;
  /** @type {string | undefined} */
  let selected;
  return {
    size: () => known.size,
    next: () => next,
    clear() {
      known.clear();
      rows.replaceChildren();
      next = undefined;
    },
    /**
     * @param {string | undefined} askId
     */
    select(askId) {
      selected = askId;
      for (const [id, row] of known) row.mark(id === askId);
    },
    /**
     * The first page says what is there up to its end; a further one only adds.
     * @param {InboxPage} found
     * @param {boolean} isFirst
     */
    take(found, isFirst) {
      const wasWhole = known.size <= found.items.length;
      const there = new Set(found.items.map(({ askId }) => askId));
      const last = found.items.at(-1);
      for (const [id, row] of isFirst ? known : []) {
        const isCovered =
          found.next === undefined || last === undefined || row.openedAt <= last.openedAt;
        if (there.has(id) || !isCovered) continue;
        row.element.remove();
        known.delete(id);
      }
      for (const ask of found.items) {
        const row = known.get(ask.askId) ?? askRow(ask);
        row.refresh(ask);
        if (known.has(ask.askId)) continue;
        known.set(ask.askId, row);
        row.mark(ask.askId === selected);
        rows.append(row.element);
      }
      if (!isFirst || wasWhole || found.next === undefined) next = found.next;
    },
  };
}
