/** Searching and filtering the inbox. */
import type { RefObject, VNode } from 'preact';
import { textIn } from '../parts/form.js';
import { useTyped } from '../parts/use-typed.js';
import type { InboxFilters } from './known-asks.js';

const TYPING_MS = 250;

const KINDS: readonly (readonly [value: string, label: string])[] = [
  ['', 'Everything'],
  ['approval', 'Approvals'],
  ['input', 'Questions'],
  ['outcome', 'Unknown outcomes'],
  ['budget', 'Budgets'],
];

export interface InboxFiltersProps {
  readonly filters: InboxFilters;
  readonly filter: (filters: InboxFilters) => void;
  readonly search: RefObject<HTMLInputElement | null>;
}

export function InboxFilterFields({ filters, filter, search }: InboxFiltersProps): VNode {
  const typed = useTyped(TYPING_MS, filters.search, (text) => filter({ ...filters, search: text }));
  return (
    <search class="filters">
      <input
        ref={search}
        type="search"
        placeholder="Search"
        aria-label="Search in questions, arguments and runs"
        autocomplete="off"
        spellcheck={false}
        maxLength={200}
        value={typed.text}
        onInput={(event) => typed.type(textIn(event))}
      />
      <select
        aria-label="Kind"
        value={filters.kind}
        onChange={(event) => filter({ ...filters, kind: textIn(event) })}
      >
        {KINDS.map(([value, label]) => (
          <option key={value} value={value}>
            {label}
          </option>
        ))}
      </select>
      <select
        aria-label="State"
        value={filters.state}
        onChange={(event) => {
          const state = textIn(event) as InboxFilters['state'];
          filter({ ...filters, state, isMine: state === 'pending' && filters.isMine });
        }}
      >
        <option value="pending">Waiting</option>
        <option value="decided">Past decisions</option>
      </select>
      <select
        aria-label="Order"
        value={filters.order}
        onChange={(event) => filter({ ...filters, order: textIn(event) as InboxFilters['order'] })}
      >
        <option value="time">
          {filters.state === 'decided' ? 'Newest first' : 'Oldest first'}
        </option>
        <option value="expiry">Expiring first</option>
        <option value="amount">Largest amount first</option>
      </select>
      <label class="inline mine" for="inbox-mine" hidden={filters.state === 'decided'}>
        <input
          id="inbox-mine"
          type="checkbox"
          checked={filters.isMine}
          onChange={(event) => filter({ ...filters, isMine: event.currentTarget.checked })}
        />{' '}
        Mine to decide
      </label>
    </search>
  );
}
