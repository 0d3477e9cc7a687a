/** The list of the inbox. */
import type { RefObject, VNode } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { Button } from '../parts/button.js';
import { whole } from '../parts/format.js';
import { InboxFilterFields } from './inbox-filters.js';
import { InboxRow } from './inbox-row.js';
import { isFiltered } from './known-asks.js';
import type { Inbox } from './use-inbox.js';
import { moveInList, useListKeys } from './use-list-keys.js';

/** How far below what is seen the end of the list may be before more is fetched. */
const NEAR = '600px';

export interface InboxListProps {
  readonly inbox: Inbox;
  readonly selected: string | undefined;
}

export function InboxList({ inbox, selected }: InboxListProps): VNode {
  const { asks, next, total, filters, filter, fetchMore } = inbox;
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
        {statusOf(total, isFiltered(filters))}
      </p>
      <div class="scroller">
        <ul class="rows" aria-label="Waiting for a decision" ref={rows} onKeyDown={moveInList}>
          {asks.map((ask) => (
            <InboxRow key={ask.askId} ask={ask} isSelected={ask.askId === selected} />
          ))}
        </ul>
        <div class="list-end" ref={end}>
          {total === 0 && <Nothing isFiltered={isFiltered(filters)} />}
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

function statusOf(total: number | undefined, isNarrowed: boolean): string {
  if (total === undefined) return '';
  if (total === 0) return isNarrowed ? 'Nothing found' : '';
  return `${whole(total)} ${isNarrowed ? 'found' : 'waiting'}, oldest first`;
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
