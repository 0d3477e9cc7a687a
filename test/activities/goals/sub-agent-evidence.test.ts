/** What a sub-agent below a cycle has found is evidence of the goal: told to the cycle, found by its id, and nobody else's. */
import { closeChild } from '../../../activities/agents/close-child.js';
import type { ActivityDeps } from '../../../activities/deps.js';
import { evidenceReader } from '../../../activities/goal/evidence-reader.js';
import type { Scope } from '../../../activities/scope.js';
import { evidenceOf } from '../../../console/goals/evidence.js';
import { NO_COUNTERS } from '../../../core/goal/open.js';
import type { CloseChildInput } from '../../../core/state/effect.js';
import { openMemoryStore, type MemoryStore } from '../../../store/store.js';
import { eventsFrom, SESSION_INIT } from '../../store/fixtures.js';
import { toolNamed } from './goal-bed.js';

const TENANT = 'default';
const GOAL = 'march';
const [CYCLE, CHILD, BELOW] = ['march:c1', 'march:c1:a1', 'march:c1:a1:a2'] as const;
const tool = toolNamed('facts.read');
const config = { tools: new Map([['facts.read@1', tool]]) };

let store: MemoryStore;
beforeEach(async () => {
  store = await openMemoryStore();
  await register(CYCLE, GOAL, 1);
  await register(CHILD, CYCLE, 1);
  await register(BELOW, CHILD, 2);
});
afterEach(() => store.close());

async function register(child: string, parent: string, n: number) {
  await store.registerChild({ tenant: TENANT, child, parent, n, digest: child, start: '{}' });
}

const called = (callId: string, over: object = {}) => [
  { type: 'tool_started', callId, tool: 'facts.read', key: callId, args: { item: callId } },
  {
    type: 'tool_finished',
    callId,
    tool: 'facts.read',
    status: 'ok',
    content: { text: `found by ${callId}` },
    synthetic: false,
    started: true,
    attempts: 1,
    durationMs: 1,
    key: callId,
    ...over,
  },
];

const ended = (runId: string) => ({
  type: 'run_result',
  result: {
    runId,
    status: 'completed',
    stopReason: 'completed',
    completed: true,
    answer: { text: 'Audited.' },
    usage: NO_COUNTERS.usage,
    costMicroUsd: 0,
    counters: NO_COUNTERS,
    versions: {},
    trace: { runId, traceId: 't', events: 1 },
  },
});

async function ran(runId: string, bodies: readonly object[]) {
  const all = [SESSION_INIT, ...bodies, ended(runId)] as (typeof SESSION_INIT)[];
  const source = { tenant: TENANT, runId, execution: 'e' };
  await store.appendEvents(source, eventsFrom(0, all));
}

function close(child: string, parent: string, over: Partial<CloseChildInput> = {}) {
  const run = { tenant: TENANT, runId: parent, traceId: 't' };
  const facts = { name: 'auditor', last: true, inlineBytesMax: 10_000, events: [] };
  const input = { v: 1, run, child, ...facts, ...over } as unknown as CloseChildInput;
  return closeChild({ store } as unknown as ActivityDeps, { execution: 'e' } as Scope, input);
}

test('A cycle is told the ids of what its sub-agent found; failed calls and those below have none there, and answers of a schema stay data.', async () => {
  await ran(CHILD, [
    ...called('x'),
    ...called('failed', { status: 'error' }),
    ...called('agent', { child: BELOW, tool: 'agent' }),
  ]);
  await ran(BELOW, called('y'));
  const text = async (...wanted: Parameters<typeof close>) => (await close(...wanted)).end?.content;
  expect(await text(CHILD, CYCLE)).toEqual({
    text: 'Audited.\n\nEvidence ids of its calls: c1.a1/x (facts.read)',
  });
  expect(await text(BELOW, CHILD)).toEqual({
    text: 'Audited.\n\nEvidence ids of its calls: c1.a1.a2/y (facts.read)',
  });
  const long = await close(CHILD, CYCLE, { inlineBytesMax: 10 });
  expect(await store.getText(TENANT, long.end!.content)).toContain('c1.a1/x');
  // A run that works for no goal, whatever its id.
  await ran('other:a1', called('x'));
  await ran('march:c9:a1', called('x'));
  for (const child of ['other:a1', 'march:c9:a1']) {
    expect(await text(child, child.slice(0, -3))).toEqual({ text: 'Audited.' });
  }
  const outputSchema = (await store.putBlob(TENANT, '{"type":"string"}')) as never;
  const schema = await close(CHILD, CYCLE, { outputSchema });
  expect(JSON.stringify(schema.end)).not.toContain('Evidence ids');
});

test('Its id is found below that goal alone, at each generation, for cycles, judges and the desk; its arguments are words of the workers.', async () => {
  await ran(CYCLE, called('own'));
  await ran(CHILD, called('x'));
  await ran(BELOW, called('y'));
  await ran('march:c2:a1', called('z'));
  const place = { tenant: TENANT, goal: GOAL, memory: { ancestors: [] } };
  const reader = evidenceReader({ store, config }, place);
  const facts = { kind: 'read', proves: true, tool: 'facts.read' };
  expect(await reader.find('c1.a1/x')).toMatchObject({ ...facts, content: { text: 'found by x' } });
  expect(await reader.find('c1.a1.a2/y')).toMatchObject({ ...facts, args: { item: 'y' } });
  // Of another run, of no call, of a run that nobody registered.
  for (const id of ['c1/x', 'c1.a1/y', 'c1.a2/x', 'c2.a1/z', 'c1.a1.a1/y']) {
    expect([id, await reader.find(id)]).toEqual([id, undefined]);
  }
  const stranger = evidenceReader({ store, config }, { ...place, goal: 'april' });
  expect(await stranger.find('c1.a1/x')).toBeUndefined();
  expect(await reader.argumentsOf(1)).toEqual([{ item: 'own' }, { item: 'x' }, { item: 'y' }]);
  const desk = { tenant: TENANT, goalId: GOAL, ancestors: [] };
  expect(await evidenceOf(store, desk, 'c1.a1/x')).toMatchObject({ runId: CHILD, cycle: 1 });
  expect(await evidenceOf(store, desk, 'c2.a1/z')).toBeUndefined();
});
