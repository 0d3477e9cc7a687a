/** What a question rests on, from the events before it. */
import type { RunEvent } from '../../core/state/event.js';
import { groundsOf } from '../../console/grounds.js';
import { originWords } from '../../pure/origins.js';
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
    childRow: async () => undefined,
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

const paying = (args: object): AskRow =>
  ({
    ...ASK,
    args,
    card: { amount: { path: 'cents', unit: 'minor', currency: 'EUR' }, recipient: 'to' },
  }) as unknown as AskRow;

test('it says where values stand: in the task, in what a tool said, or nothing', async () => {
  const task = { type: 'session_init', goal: { text: 'Refund 48250.75 EUR for O-1001.' } };
  const said = {
    ...answered('read_order'),
    content: { text: '{"iban":"DE02120300000000202051"}' },
  };
  const store = holding(task, replied('look'), said, replied('pay'), asked);
  const args = { cents: 4_825_075, to: 'DE02 1203 0000 0000 2020 51', order: 'O-100' };
  expect((await groundsOf(store, paying(args))).origins).toEqual([
    { path: 'cents', in: 'task', as: 'as shown' },
    { path: 'to', in: 'tool', tool: 'read_order', as: 'raw' },
  ]);
});

test('a value at the end of a text that goes on is not said to stand there', async () => {
  const stored = { $blob: 'x', bytes: 10_000_000, preview: 'Pay O-100' };
  const store = holding({ type: 'session_init', goal: stored }, replied('pay'), asked);
  expect((await groundsOf(store, paying({ order: 'O-100' }))).origins).toEqual([]);
});

test('a value beyond what is shown of a long text is found in all of it', async () => {
  const whole = `${'x '.repeat(4_000)}O-104 is late`;
  const stored = { $blob: 'x', bytes: whole.length, preview: 'x x' };
  const store = {
    ...holding({ type: 'session_init', goal: stored }, replied('pay'), asked),
    getBlob: async () => whole,
  } as never;
  const { origins } = await groundsOf(store, paying({ order: 'O-104' }));
  expect(origins).toEqual([{ path: 'order', in: 'task', as: 'raw' }]);
});

test('a value in a note of the brief stands in that note, and not in the task', async () => {
  const events = holding(started, replied('pay'), asked);
  const context = [{ origin: 'note', cycle: 7, by: 'clerk', text: 'Pay to CH93-0076-2011.' }];
  const store = {
    ...events,
    getRun: async () => ({ lastSeq: 3, parent: 'goal' }) as never,
    childRow: async () =>
      ({ start: JSON.stringify({ task: { goal: 'Pay the bill.' }, context }) }) as never,
  };
  const ask = { ...ASK, args: { account: 'CH93-0076-2011' } } as AskRow;
  const { origins, sources, goal } = await groundsOf(store, ask);
  expect(goal).toEqual({ text: 'Pay the bill.' });
  expect(sources).toMatchObject([
    { kind: 'brief', part: { origin: 'note', cycle: 7, by: 'clerk' } },
  ]);
  expect(origins).toEqual([
    { path: 'account', in: 'brief', as: 'raw', part: { origin: 'note', cycle: 7 } },
  ]);
  expect(originWords(origins[0]!).before).toBe('stands in a note of cycle 7 (untrusted)');
});
