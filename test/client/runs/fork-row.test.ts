/** The row of a fork under a chosen id: a start that is sent again finds it, whatever the record says by then. */
import { writeForkRow } from '../../../client/runs/fork-row.js';
import type { Link } from '../../../client/link.js';
import { HoldfastError } from '../../../core/state/errors.js';
import { openMemoryStore, type MemoryStore } from '../../../store/store.js';

const TENANT = 'default';
const none = {
  describe: () => Promise.reject(new HoldfastError('RunNotFound', 'There is no such run.')),
};
const link = {
  connection: { withDeadline: (_: number, work: () => unknown) => work() },
  temporal: { workflow: { getHandle: () => none } },
} as unknown as Link;

/** `outcomes`: what the record says of calls that were in flight. */
function stateOf(outcomes: object, message: string, step = 7) {
  return JSON.stringify({ run: { runId: 'parent' }, step, outcomes, frozen: {}, message });
}

let store: MemoryStore;
beforeEach(async () => {
  store = await openMemoryStore();
});
afterEach(() => store.close());

function written(body: string, rows: Parameters<typeof writeForkRow>[1] = store) {
  const place = { tenant: TENANT, runId: 'mine', parent: 'parent', step: 7 };
  return writeForkRow(link, rows, { ...place, body, at: 1, isGivenId: true });
}

const KNOWN = { call_1: { kind: 'outcome', outcome: { kind: 'ok' } } };

test('a record that says more by now gives the same fork, which begins with what its row says', async () => {
  const first = await written(stateOf({}, 'Go on.'));
  expect(await written(stateOf(KNOWN, 'Go on.'))).toBe(first);
  expect(await store.getFork(TENANT, 'mine')).toMatchObject({
    digest: first,
    body: stateOf({}, 'Go on.'),
  });
});

test.each([
  ['other changes', stateOf({}, 'Stop.')],
  ['another step', stateOf({}, 'Go on.', 8)],
])('%s are another fork', async (_, body) => {
  await written(stateOf({}, 'Go on.'));
  await expect(written(body)).rejects.toMatchObject({ code: 'RunExists' });
});

test('of two starts at once the row of the first counts for the same changes alone', async () => {
  const first = await written(stateOf({}, 'Go on.'));
  const rows = () => {
    let asked = 0;
    return {
      putFork: store.putFork,
      // The other start writes its row behind this look.
      getFork: async (tenant: string, runId: string) =>
        asked++ === 0 ? undefined : store.getFork(tenant, runId),
    };
  };
  expect(await written(stateOf(KNOWN, 'Go on.'), rows())).toBe(first);
  await expect(written(stateOf(KNOWN, 'Stop.'), rows())).rejects.toMatchObject({
    code: 'RunExists',
  });
});
