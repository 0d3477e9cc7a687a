/** A call that a run made before it was reset, and makes again under another key (G109). */
import { z } from 'zod';
import { defineTool, ToolError } from '../../authoring/index.js';
import type { RunEvent } from '../../core/state/event.js';
import { attempt, callOf, EXECUTION, executeInput, RUN, startBed, type Bed } from './setup.js';

const ORDER = { order: 'O-1' };
const BEFORE = 'exec-before';

let bed: Bed;
let done: string[];
let refuse: boolean;

beforeEach(async () => {
  done = [];
  refuse = false;
  const send = defineTool({
    name: 'send',
    version: '1',
    effect: 'send',
    idempotency: 'none',
    approval: 'by_policy',
    input: z.object({ order: z.string() }),
    run: (_, { idempotencyKey }) => {
      if (refuse) throw new ToolError('closed');
      done.push(idempotencyKey);
      return 'sent';
    },
  });
  bed = await startBed({ tools: [send] });
});
afterEach(() => bed.end());

/** The start of a call in the run's line of events. */
function startOf(key: string, seq: number, args = ORDER, at = seq): RunEvent {
  const stamp = { ...STAMP, seq, at };
  return { type: 'tool_started', callId: 'c1', tool: 'send', key, args, stamp };
}

const STAMP = {
  runId: RUN.runId,
  traceId: RUN.traceId,
  phase: 'dispatching_tools',
  step: 0,
  turn: 0,
} as const;

interface Sending {
  readonly execution?: string;
  readonly args?: { readonly order: string };
  readonly events?: readonly RunEvent[];
  readonly seen?: readonly string[];
}

async function send(key: string, { execution = EXECUTION, args = ORDER, ...more }: Sending = {}) {
  const { events = [], seen } = more;
  const input = executeInput(callOf('send', args, { key }));
  const grant = { ...input.grant, ...(seen !== undefined && { repeats: seen }) };
  const stored = events.map(({ stamp, ...event }) => ({ ...event, stamp }));
  const info = {
    activityId: `execute_tool-${key}`,
    workflowExecution: { workflowId: RUN.runId, runId: execution },
    heartbeatTimeoutMs: 300,
  };
  const asked = { ...input, grant, events: stored as (typeof input)['events'] };
  return (await attempt(bed.activities().execute_tool, asked, info)).outcome;
}

/** The call was made under `run_1:3`; then the run went back, and its conversation took another way. */
async function madeAndReset(): Promise<void> {
  expect(
    await send('run_1:3', { execution: BEFORE, events: [startOf('run_1:3', 0)] }),
  ).toMatchObject({ kind: 'ok' });
  const other = startOf('run_1:1', 0, { order: 'O-2' }, 50);
  await send('run_1:1', { args: { order: 'O-2' }, events: [other] });
  expect(done).toEqual(['run_1:3', 'run_1:1']);
}

test('asks a person, who is told of the call before the reset', async () => {
  await madeAndReset();
  const again = { events: [startOf('run_1:2', 1)] };
  expect(await send('run_1:2', again)).toEqual({
    kind: 'repeats',
    repeats: {
      identity: ['these arguments, before the run was reset'],
      earlier: [
        { key: 'run_1:3', runId: 'run_1', tool: 'send', at: 0, state: 'done', approvedBy: [] },
      ],
    },
  });
  expect(await bed.store.getLedgerRow('default', 'run_1:2')).toBeUndefined();
  expect(await send('run_1:2', { ...again, seen: ['run_1:3'] })).toMatchObject({ kind: 'ok' });
  expect(done).toEqual(['run_1:3', 'run_1:1', 'run_1:2']);
});

test('asks also while nothing of the new line of events is stored', async () => {
  await send('run_1:3', { execution: BEFORE, events: [startOf('run_1:3', 0)] });
  expect(await send('run_1:2')).toMatchObject({ kind: 'repeats' });
});

test('asks also when the key of before the reset is now that of another call', async () => {
  await send('run_1:3', { execution: BEFORE, events: [startOf('run_1:3', 0)] });
  const other = startOf('run_1:3', 0, { order: 'O-2' }, 50);
  expect(await send('run_1:3', { args: { order: 'O-2' }, events: [other] })).toMatchObject({
    kind: 'key_conflict',
  });
  expect(await send('run_1:4', { events: [startOf('run_1:4', 1)] })).toMatchObject({
    kind: 'repeats',
    repeats: { earlier: [{ key: 'run_1:3' }] },
  });
});

test('asks nobody about what the conversation itself has, in this execution or one before it', async () => {
  await send('run_1:1', { execution: BEFORE, events: [startOf('run_1:1', 0)] });
  expect(await send('run_1:2', { events: [startOf('run_1:2', 1)] })).toMatchObject({ kind: 'ok' });
  expect(await send('run_1:3', { events: [startOf('run_1:3', 2)] })).toMatchObject({ kind: 'ok' });
});

test('asks nobody about other arguments, or about what is known not to have happened', async () => {
  refuse = true;
  await send('run_1:3', { execution: BEFORE, events: [startOf('run_1:3', 0)] });
  refuse = false;
  const other = startOf('run_1:1', 0, { order: 'O-2' }, 50);
  await send('run_1:1', { args: { order: 'O-2' }, events: [other] });
  expect(await send('run_1:2', { events: [startOf('run_1:2', 1)] })).toMatchObject({ kind: 'ok' });
});

test('names under the same key that stand in a text are no pattern', async () => {
  await madeAndReset();
  const key = 'run_1:%_"!';
  await send(key, { args: { order: 'O-3' }, events: [startOf(key, 1, { order: 'O-3' })] });
  expect(
    await send('run_1:9', {
      args: { order: 'O-3' },
      events: [startOf('run_1:9', 2, { order: 'O-3' })],
    }),
  ).toMatchObject({ kind: 'ok' });
});
