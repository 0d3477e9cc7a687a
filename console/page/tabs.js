/** Tabs as screen readers and keyboards know them. */
import { el } from './dom.js';

/** @typedef {{ readonly name: string, readonly panel: HTMLElement, readonly opened?: () => void }} Tab */

let nextId = 1;

/**
 * @param {string} label
 * @param {readonly Tab[]} entries
 */
export function tabs(label, entries) {
  const group = `tabs-${nextId++}`;
  const buttons = entries.map(({ name }, place) =>
    el(
      'button',
      {
        type: 'button',
        role: 'tab',
        id: `${group}-tab-${place}`,
        'aria-controls': `${group}-panel-${place}`,
      },
      name,
    ),
  );
  const panels = entries.map(({ panel }, place) =>
    el(
      'div',
      {
        role: 'tabpanel',
        id: `${group}-panel-${place}`,
        'aria-labelledby': `${group}-tab-${place}`,
      },
      panel,
    ),
  );
  const open = (/** @type {number} */ chosen) => {
    for (const [place, made] of buttons.entries()) {
      const isChosen = place === chosen;
      made.setAttribute('aria-selected', String(isChosen));
      made.tabIndex = isChosen ? 0 : -1;
      const panel = panels[place];
      if (panel !== undefined) panel.hidden = !isChosen;
    }
    entries[chosen]?.opened?.();
  };
  for (const [place, made] of buttons.entries()) {
    made.addEventListener('click', () => open(place));
    made.addEventListener('keydown', (event) => {
      const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
      if (step === undefined) return;
      const next = (place + step + buttons.length) % buttons.length;
      buttons[next]?.focus();
      open(next);
    });
  }
  open(0);
  return el(
    'div',
    { class: 'tabs' },
    el('div', { role: 'tablist', 'aria-label': label }, ...buttons),
    ...panels,
  );
}
