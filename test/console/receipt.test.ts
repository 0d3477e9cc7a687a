/** What became of an action after its question was decided, from the events of its run. */
import type { RunEvent } from '../../core/state/event.js';
import { receiptOf } from '../../console/receipt.js';
import type { AskRow } from '../../store/asks.js';

const ASK = {
  tenant: 'default',
  runId: 'run',
  askId: 'run:0',
  kind: 'approval',
  callId: 'pay',
  outcome: 'approved',
  card: { reference: 'refundId' },
} as unknown as AskRow;
const NEXT = { askId: 'run:0:r1', kind: 'approval', outcome: 'pending', quorum: 2 } as const;

const about = { askId: 'run:0', callId: 'pay' };
const resolved = { type: 'approval_resolved', ...about, outcome: 'approved', by: ['mia'] };
const started = { type: 'tool_started', callId: 'pay', key: 'run:0' };
const ended = { type: 'run_result', result: {} };
const finished = (more: object): object => ({
  type: 'tool_finished',
  callId: 'pay',
  tool: 'pay',
  key: 'run:0',
  status: 'error',
  started: true,
  content: { text: 'said' },
  ...more,
});

/** The receipt of a question that was decided, when these events came after it. */
function receiptAfter(ask: AskRow, ...events: readonly object[]) {
  const asked = { type: 'approval_requested', ...about };
  const stamped = [asked, ...events].map((event, index) => ({
    ...event,
    stamp: { seq: index + 1, at: 1_000 + index },
  })) as unknown as readonly RunEvent[];
  return receiptOf(
    {
      openedSeq: async () => 0,
      getAsk: async (_tenant, askId) => ({ ...NEXT, askId }) as never,
      readEvents: async (_run, { sinceSeq }) =>
        ({ events: stamped.filter(({ stamp }) => stamp.seq > sinceSeq) }) as never,
    },
    ask,
  );
}

test('an open question, and one about no action, have no receipt', async () => {
  expect(await receiptAfter({ ...ASK, outcome: 'pending' })).toBeUndefined();
  expect(await receiptAfter({ ...ASK, kind: 'budget' }, resolved)).toBeUndefined();
});

test('of a question of the model it tells the answer that the model was given', async () => {
  const question = { ...ASK, kind: 'input', outcome: 'answered' } as const;
  const provided = { type: 'input_provided', ...about, outcome: 'answered', by: ['mia'] };
  const given = finished({ status: 'ok', content: { text: 'red' } });
  expect(await receiptAfter(question, provided, given)).toEqual({
    state: 'done',
    at: 1_002,
    content: { text: 'red' },
  });
  expect(await receiptAfter(question, provided)).toBeUndefined();
  const expired = { ...question, outcome: 'expired' } as const;
  expect(await receiptAfter(expired, provided, given)).toBeUndefined();
  // The call of a tool whose server asked has a result of its own.
  const ofServer = { ...question, elicitation: {} } as unknown as AskRow;
  expect(await receiptAfter(ofServer, provided, given)).toBeUndefined();
});

test('paid: with the reference that the tool says, and the key that the tool was given', async () => {
  const paid = finished({ status: 'ok', content: { text: '{"refundId":"R-17"}' } });
  expect(await receiptAfter(ASK, resolved, started, paid)).toMatchObject({
    state: 'done',
    reference: 'R-17',
    key: 'run:0',
    content: { text: '{"refundId":"R-17"}' },
  });
});

test.each([
  ['frozen', 'refused'],
  ['limit_exceeded', 'refused'],
  ['tool_unavailable', 'refused'],
  ['permission_denied', 'refused'],
  ['outcome_unknown', 'in_doubt'],
  ['interrupted_mid_execution', 'in_doubt'],
  ['execution_error', 'failed'],
])('a result %s is %s', async (code, state) => {
  const receipt = await receiptAfter(ASK, resolved, started, finished({ code }));
  expect(receipt).toMatchObject({ state, code, content: { text: 'said' } });
});

test('before anything was begun it waits, then it is under way', async () => {
  expect(await receiptAfter(ASK, resolved)).toEqual({ state: 'waits' });
  expect(await receiptAfter(ASK, resolved, started)).toMatchObject({ state: 'under_way' });
});

test('of a run that has ended without it, it was not done', async () => {
  expect(await receiptAfter(ASK, resolved, ended)).toMatchObject({ state: 'not_done' });
});

test('in doubt while a person is asked whether it happened', async () => {
  const doubted = { type: 'input_request', askId: 'run:0:outcome', callId: 'pay' };
  const store = await receiptAfter(ASK, resolved, started, doubted);
  expect(store).toMatchObject({ next: { askId: 'run:0:outcome' } });
});

test('a correction says what it became, and which question is asked about that', async () => {
  const original = { tool: 'pay', args: { cents: 5 } };
  const corrected = { tool: 'pay', args: { cents: 4 } };
  const modified = { ...resolved, outcome: 'modified', original, corrected };
  const again = { type: 'approval_requested', askId: 'run:0:r1', callId: 'pay' };
  const ask = { ...ASK, outcome: 'modified' } as AskRow;
  expect(await receiptAfter(ask, modified, again)).toEqual({
    state: 'asked_again',
    corrected: { by: ['mia'], original, corrected },
    next: NEXT,
  });
  const paid = finished({ status: 'ok' });
  expect(await receiptAfter(ask, modified, started, paid)).toMatchObject({
    state: 'done',
    corrected: { corrected },
  });
});

test('what came before the question does not count', async () => {
  const paid = finished({ status: 'ok' });
  expect(await receiptAfter(ASK, paid, resolved)).toEqual({ state: 'waits' });
});
