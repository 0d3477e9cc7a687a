/** The end of a sub-agent: its row is sealed with its result where its parent may hear of it by Temporal alone. */
import { closeChild } from '../../activities/agents/close-child.js';
import type { ActivityDeps } from '../../activities/deps.js';
import { closeRun } from '../../activities/run/close-run.js';
import type { Scope } from '../../activities/scope.js';
import type { CloseChildInput } from '../../core/state/effect.js';
import { openMemoryStore, type MemoryStore } from '../../store/store.js';
import { eventsFrom, RESULT, SESSION_INIT } from '../store/fixtures.js';

const TENANT = 'default';
const SCOPE = { execution: 'e' } as unknown as Scope;

let store: MemoryStore;
beforeEach(async () => {
  store = await openMemoryStore();
});
afterEach(() => store.close());

async function register(child: string, place = true): Promise<void> {
  const parent = child.slice(0, child.lastIndexOf(':'));
  const [root = ''] = child.split(':');
  const of = place && { place: { root, path: ['desk', 'auditor'], call: 'c' } };
  const row = { tenant: TENANT, child, parent, n: 1, digest: child, start: '{}', ...of };
  await store.registerChild(row);
}

const found = {
  type: 'tool_finished',
  callId: 'x',
  tool: 'facts.read',
  status: 'ok',
  content: { text: 'found' },
  synthetic: false,
  started: true,
  attempts: 1,
  durationMs: 1,
  key: 'x',
};

/** As the last activity of the run `runId` does it. */
async function closed(runId: string, { withResult = true } = {}) {
  const { detail: _, ...rest } = RESULT;
  const ended = { status: 'completed', stopReason: 'completed', completed: true } as const;
  const result = { ...rest, ...ended, runId, answer: { text: 'Audited.' } };
  const last = withResult ? [{ type: 'run_result', result }] : [];
  const bodies = [SESSION_INIT, found, ...last] as (typeof SESSION_INIT)[];
  await store.appendEvents({ tenant: TENANT, runId, execution: 'e' }, eventsFrom(0, bodies));
  const run = { tenant: TENANT, runId, traceId: 't' };
  const input = { v: 1, run, head: null, append: [], events: [] } as const;
  return closeRun({ store } as unknown as ActivityDeps, SCOPE, input);
}

const stateOf = async (child: string) => (await store.childRow(TENANT, child))?.state;

test('The row of a sub-agent that ends is sealed, and its end says so.', async () => {
  await register('desk:a1');
  expect(await closed('desk:a1')).toMatchObject({ sealed: true });
  expect(await stateOf('desk:a1')).toBe('sealed');
});

test('Below a cycle the row stays open, so that the run above reads the end from the store, with the ids of its evidence.', async () => {
  await register('march:c1', false);
  for (const child of ['march:c1:a1', 'march:c1:a1:a2']) {
    await register(child);
    expect(await closed(child)).not.toHaveProperty('sealed');
    expect(await stateOf(child)).toBe('open');
  }
  const run = { tenant: TENANT, runId: 'march:c1', traceId: 't' };
  const facts = { name: 'auditor', last: true, inlineBytesMax: 10_000, events: [] };
  const input = { v: 1, run, child: 'march:c1:a1', ...facts } as unknown as CloseChildInput;
  const { end } = await closeChild({ store } as unknown as ActivityDeps, SCOPE, input);
  expect(end?.content).toEqual({
    text: 'Audited.\n\nEvidence ids of its calls: c1.a1/x (facts.read)',
  });
  expect(await stateOf('march:c1:a1')).toBe('sealed');
});

test.each([
  ['that has no result yet', 'desk:a1', { place: true, withResult: false }],
  ['of which no place in a tree is known', 'desk:a1', { place: false, withResult: true }],
  ['that is a cycle', 'march:c1', { place: false, withResult: true }],
])('A run %s is not sealed by its own end.', async (_, child, { place, withResult }) => {
  await register(child, place);
  expect(await closed(child, { withResult })).not.toHaveProperty('sealed');
  expect(await stateOf(child)).toBe('open');
});

test('A run that is nobody’s sub-agent ends without a row.', async () => {
  expect(await closed('desk')).not.toHaveProperty('sealed');
});
