import { keptOf } from '../../../console/page/parts/use-kept.js';
import { NO_FILTERS } from '../../../console/page/runs/known-runs.js';

/** What the entry of the browser's history has. */
function kept(state: unknown): void {
  Object.assign(globalThis, { history: { state } });
}

afterEach(() => {
  Reflect.deleteProperty(globalThis, 'history');
});

test('what a view kept is there again', () => {
  const filters = { ...NO_FILTERS, agent: 'clerk', sort: 'cost', written: { tool: 'refund' } };
  kept({ filters, chosen: ['run_1'], kind: 'tool', actions: true });
  expect(keptOf('filters', NO_FILTERS)).toEqual(filters);
  expect(keptOf<readonly string[]>('chosen', [])).toEqual(['run_1']);
  expect(keptOf('kind', '')).toBe('tool');
  expect(keptOf('actions', false)).toBe(true);
});

test.each([null, 'text', 7, [], {}, { filters: null }, { filters: 'all' }, { filters: [] }])(
  'a view begins anew with %j',
  (state) => {
    kept(state);
    expect(keptOf('filters', NO_FILTERS)).toEqual(NO_FILTERS);
  },
);

test('what another release kept in another form is completed, and what has no place is left out', () => {
  kept({
    filters: { agent: 'clerk', status: ['failed'], written: { tool: 'refund', rules: 7 } },
    chosen: { first: 'run_1' },
    others: ['run_1', 7, null],
    kind: 3,
  });
  expect(keptOf('filters', NO_FILTERS)).toEqual({
    ...NO_FILTERS,
    agent: 'clerk',
    written: { tool: 'refund' },
  });
  expect(keptOf<readonly string[]>('chosen', [])).toEqual([]);
  expect(keptOf<readonly string[]>('others', [])).toEqual(['run_1']);
  expect(keptOf('kind', '')).toBe('');
});
