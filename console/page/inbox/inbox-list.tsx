/** The list of the inbox. */
import type { RefObject, VNode } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import type { ListedAsk } from '../data/api-types.js';
import { Button } from '../parts/button.js';
import { whole } from '../parts/format.js';
import { InboxFilterFields } from './inbox-filters.js';
import { InboxRow } from './inbox-row.js';
import { isArranged, isFiltered } from './known-asks.js';
import type { Inbox } from './use-inbox.js';
import { moveInList, useListKeys } from './use-list-keys.js';

/** How far below what is seen the end of the list may be before more is fetched. */
const NEAR = '600px';

export interface InboxListProps {
  readonly inbox: Inbox;
  /** Those of them that are shown, in their order. */
  readonly asks: readonly ListedAsk[];
  readonly selected: string | undefined;
}

export function InboxList({ inbox, asks, selected }: InboxListProps): VNode {
  const { next, total, filters, filter, fetchMore } = inbox;
  const search = useRef<HTMLInputElement>(null);
  const rows = useRef<HTMLUListElement>(null);
  const end = useRef<HTMLDivElement>(null);
  useListKeys({ rows, search });
  useWhenNear(end, () => void fetchMore());
  return (
    <section class="inbox-list" aria-label="Inbox">
      <h1>Inbox</h1>
      <InboxFilterFields filters={filters} filter={filter} search={search} />
      <p class="list-status" role="status">
        {statusOf(inbox, asks.length)}
      </p>
      <div class="scroller">
        <ul class="rows" aria-label={LABELS[filters.state]} ref={rows} onKeyDown={moveInList}>
          {asks.map((ask) => (
            <InboxRow key={ask.askId} ask={ask} isSelected={ask.askId === selected} />
          ))}
        </ul>
        <div class="list-end" ref={end}>
          {(total === 0 || (asks.length === 0 && total !== undefined && next === undefined)) && (
            <Nothing isFiltered={isFiltered(filters) || filters.isMine} />
          )}
          {total !== 0 && next !== undefined && <Button label="Show more" press={fetchMore} />}
        </div>
      </div>
    </section>
  );
}

function useWhenNear(end: RefObject<HTMLElement | null>, work: () => void): void {
  const newest = useRef(work);
  newest.current = work;
  useEffect(() => {
    const observer = new IntersectionObserver(
      (entries) => {
        if (entries.some((entry) => entry.isIntersecting)) newest.current();
      },
      { rootMargin: NEAR },
    );
    if (end.current !== null) observer.observe(end.current);
    return () => observer.disconnect();
  }, []);
}

const LABELS = { pending: 'Waiting for a decision', decided: 'Past decisions' } as const;
const ORDERS = { time: '', expiry: 'expiring first', amount: 'largest amount first' } as const;

function statusOf({ total, filters, asks }: Inbox, shown: number): string {
  if (total === undefined) return '';
  const { state, order, isMine } = filters;
  const isNarrowed = isFiltered(filters);
  if (total === 0) return isNarrowed ? 'Nothing found' : '';
  const noun = isNarrowed ? 'found' : 'waiting';
  const first = ORDERS[order] || (state === 'decided' ? 'newest first' : 'oldest first');
  if (!isArranged(filters)) return `${whole(total)} ${noun}, ${first}`;
  const mine = isMine ? `${whole(shown)} to decide of ` : '';
  const looked = asks.length < total ? ` (${whole(asks.length)} looked at)` : '';
  return `${mine}${whole(total)} ${noun}${looked}, ${first}`;
}

function Nothing(props: { readonly isFiltered: boolean }): VNode {
  if (props.isFiltered) return <p class="empty quiet">Nothing that waits fits this search.</p>;
  return (
    <div class="empty quiet">
      <p class="big">Nothing waits.</p>
      <p>Questions of runs appear here by themselves.</p>
    </div>
  );
}
