/** Searching and filtering the inbox. */
import { el } from './dom.js';

const TYPING_MS = 250;

/** @type {readonly (readonly [value: string, label: string])[]} */
const KINDS = [
  ['', 'Everything'],
  ['approval', 'Approvals'],
  ['input', 'Questions'],
  ['outcome', 'Unknown outcomes'],
  ['budget', 'Budgets'],
];

/** @param {() => void} changed */
export function filterControls(changed) {
  const search = el('input', {
    type: 'search',
    placeholder: 'Search',
    'aria-label': 'Search in questions, arguments and runs',
    autocomplete: 'off',
    spellcheck: 'false',
    maxlength: 200,
  });
  const kind = el(
    'select',
    { 'aria-label': 'Kind' },
    ...KINDS.map(([value, label]) => el('option', { value }, label)),
  );
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let timer;
  search.addEventListener('input', () => {
    clearTimeout(timer);
    timer = setTimeout(changed, TYPING_MS);
  });
  kind.addEventListener('change', changed);
  const form = el('search', { class: 'filters' }, search, kind);
  return {
    element: form,
    search,
    isFiltered: () => search.value.trim() !== '' || kind.value !== '',
    /** @param {number} limit */
    query(limit) {
      const query = new URLSearchParams({ limit: String(limit) });
      if (search.value.trim() !== '') query.set('search', search.value.trim());
      if (kind.value !== '') query.set('kind', kind.value);
      return query.toString();
    },
  };
}
