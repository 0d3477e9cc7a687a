/** What a question rests on, from the events before it. */
import type { RunEvent } from '../../core/state/event.js';
import { groundsOf } from '../../console/grounds.js';
import type { AskRow } from '../../store/asks.js';

const ASK = {
  tenant: 'default',
  runId: 'run',
  askId: 'run:0',
  kind: 'approval',
  callId: 'pay',
} as unknown as AskRow;

/** A store that holds these events of one run. */
function holding(...events: readonly object[]): Parameters<typeof groundsOf>[0] {
  const stamped = events.map((event, index) => ({
    ...event,
    stamp: { seq: index + 1, at: 1_000 + index },
  })) as unknown as readonly RunEvent[];
  return {
    getRun: async () => ({ lastSeq: stamped.length }) as never,
    getBlob: async () => undefined,
    readEvents: async (_run, { sinceSeq }) => {
      const later = stamped.filter(({ stamp }) => stamp.seq > sinceSeq);
      return { events: later, nextSeq: stamped.length } as never;
    },
  };
}

const started = { type: 'session_init', goal: { text: 'Pay the bill.' } };
const replied = (...ids: readonly string[]): object => ({
  type: 'model_response',
  model: 'scripted/model',
  calls: ids.map((id) => ({ id })),
});
const answered = (tool: string): object => ({
  type: 'tool_finished',
  tool,
  status: 'ok',
  synthetic: false,
  content: { text: `said by ${tool}` },
});
const asked = { type: 'approval_requested', askId: 'run:0', callId: 'pay' };

test('it rests on what the model had read before it proposed the call', async () => {
  const store = holding(started, replied('look'), answered('look'), replied('pay'), asked);
  const { sources, goal } = await groundsOf(store, ASK);
  expect(sources.map(({ tool }) => tool)).toEqual(['look']);
  expect(goal).toEqual({ text: 'Pay the bill.' });
});

test('it does not rest on what other calls of the same reply answered, however soon they did', async () => {
  const store = holding(started, replied('look', 'pay'), answered('look'), asked);
  expect((await groundsOf(store, ASK)).sources).toEqual([]);
});

test('it rests on what the vendor read for the model while that spoke', async () => {
  const searched = { ...answered('web_search'), hosted: true };
  const store = holding(started, replied('pay'), searched, answered('look'), asked);
  const { sources } = await groundsOf(store, ASK);
  expect(sources.map(({ tool }) => tool)).toEqual(['web_search']);
});

test('a question about no call rests on everything before it', async () => {
  const { callId: _, ...about } = ASK;
  const store = holding(started, replied('look'), answered('look'), asked);
  expect((await groundsOf(store, about)).sources).toHaveLength(1);
});

test('it does not rest on what came after it', async () => {
  const store = holding(started, replied('pay'), asked, answered('look'));
  expect((await groundsOf(store, ASK)).sources).toEqual([]);
});

test('of a lost call it tells what was done to find out, by attempt', async () => {
  const begun = { type: 'tool_started', callId: 'pay', key: 'run:0' };
  const steps = [{ step: 'attempt_lost', attempt: 1, claimed: true, durationMs: 5 }];
  const told = { type: 'tool_reconciled', callId: 'pay', steps };
  const other = { ...told, callId: 'other', steps: [] };
  const wanted = { type: 'input_request', askId: 'run:0', callId: 'pay' };
  const store = holding(started, replied('pay'), begun, told, other, begun, wanted);
  const { attempts } = await groundsOf(store, { ...ASK, kind: 'outcome' });
  expect(attempts).toMatchObject([{ key: 'run:0', steps }, { key: 'run:0' }]);
  expect(attempts[1]).not.toHaveProperty('steps');
});
