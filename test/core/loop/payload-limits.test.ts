/** Sizes: payloads and runs keep their limits, whatever is sent. Every step is checked as well. */
import { parseDecision, parseUserMessage } from '../../../core/messages/parse-message.js';
import {
  CONTINUE_AS_NEW_BYTES_MAX,
  fitsBytes,
  jsonBytes,
  PAYLOAD_BYTES_MAX,
  textFitsBytes,
} from '../../../core/json/json.js';
import { QUEUE_BYTES_MAX } from '../../../core/loop/user-message.js';
import { APPEND_BYTES_MAX } from '../../../core/turn/store-messages.js';
import { call, calls, failure, says, type Script } from '../script.js';
import {
  activate,
  answer,
  createShell,
  crossSegment,
  executedOf,
  finish,
  ofType,
  post,
  requestsOf,
  send,
  settle,
  started,
  tick,
  transitionsOf,
  until,
  warningsOf,
  type Shell,
} from '../shell.js';
import { lettersOf } from '../transcript.js';

const REFUND: Script = { model: [calls(call('a', 'issue_refund', { amount: 5 })), says('done')] };
/** As large as one message may be. */
const LARGE = '€'.repeat(8_192);

function storedApart(shell: Shell) {
  return started(shell, 'flush').filter(({ input }) => input.append !== undefined);
}

function talking(more: Partial<Script> = {}): Shell {
  const settings = { afterAnswer: 'await_user' } as const;
  return createShell({ model: [says('one'), says('two'), says('three')], settings, ...more });
}

describe('sizes of payloads', () => {
  test.each(['', 'plain', 'ü€😀', '"\\\n', '\u0000\u001f', '\ud800'])('are those of %j', (text) => {
    const bytes = Buffer.byteLength(JSON.stringify(text));
    expect(jsonBytes(text)).toBe(bytes);
    expect(fitsBytes(text, bytes)).toBe(true);
    expect(fitsBytes(text, bytes - 1)).toBe(false);
    expect(textFitsBytes(text, bytes - 2)).toBe(true);
    expect(textFitsBytes(text, bytes - 3)).toBe(false);
  });
});

describe('messages that are too large for one request', () => {
  test('are stored before it, in their order, and the request brings along the rest', () => {
    const shell = talking();
    until(shell, 'session_init');
    for (const id of ['m1', 'm2'])
      send(shell, { type: 'user_message', text: `${id}${LARGE}`.slice(0, 8_192), id });
    settle(shell);
    expect(storedApart(shell)).not.toHaveLength(0);
    expect(lettersOf(shell.transcript)).toBe('U A U U A');
    const [, second] = requestsOf(shell);
    expect(second!.head).toMatch(/:stored$/);
    expect(fitsBytes(second!.append, APPEND_BYTES_MAX)).toBe(true);
    const said = ofType(shell, 'user_message').map(({ messageId }) => messageId);
    expect(said).toEqual(['run_1:m2', 'run_1:m3']);
  });

  test('end the run when the store cannot have them', () => {
    const shell = talking({ flushFailures: 99 });
    until(shell, 'session_init');
    for (let n = 0; n < 2; n += 1) send(shell, { type: 'user_message', text: LARGE });
    for (let step = 0; step < 50 && shell.run.stopping === undefined; step += 1) tick(shell);
    expect(shell.run.stopping).toMatchObject({
      reason: 'failed',
      detail: 'model_error:StoreUnavailable',
    });
  });

  test('are waited for by a segment that ends meanwhile', () => {
    const shell = talking();
    until(shell, 'session_init');
    for (let n = 0; n < 2; n += 1) send(shell, { type: 'user_message', text: LARGE });
    for (let step = 0; step < 50 && shell.run.storing === undefined; step += 1) tick(shell);
    expect(shell.run.storing).toBeDefined();
    crossSegment(shell);
    settle(shell);
    expect(lettersOf(shell.transcript)).toBe('U A U U A');
  });

  test('are part of the conversation of a run that is stopped meanwhile', () => {
    const shell = talking();
    until(shell, 'session_init');
    for (let n = 0; n < 2; n += 1) send(shell, { type: 'user_message', text: LARGE });
    for (let step = 0; step < 50 && shell.run.storing === undefined; step += 1) tick(shell);
    send(shell, { type: 'interrupt' });
    expect(finish(shell).stopReason).toBe('interrupted');
    expect(lettersOf(shell.transcript)).toBe('U A U U');
  });

  test('small ones cost no effect of their own', () => {
    const shell = talking();
    until(shell, 'session_init');
    send(shell, { type: 'user_message', text: 'x'.repeat(8_000) });
    settle(shell);
    expect(storedApart(shell)).toEqual([]);
  });
});

describe('what people send', () => {
  test('is counted in bytes, so that a queue of any text stays small', () => {
    const shell = createShell({ model: [says('one')] });
    until(shell, 'session_init');
    for (let n = 0; n < 20; n += 1) send(shell, { type: 'user_message', text: LARGE });
    expect(fitsBytes(shell.run.queue, QUEUE_BYTES_MAX)).toBe(true);
    expect(warningsOf(shell)).toContain('message_dropped');
  });

  test('text of control characters alone is refused when it takes too much', () => {
    expect(parseUserMessage({ text: LARGE }).ok).toBe(true);
    expect(parseUserMessage({ text: `a${'\u0001'.repeat(8_000)}` })).toMatchObject({
      ok: false,
      reason: expect.stringContaining('bytes'),
    });
  });

  test('a decision has a limit as a whole', () => {
    const decision = {
      askId: 'a',
      argsHash: 'h',
      decision: 'approve',
      by: 'pat',
      decidedAt: 1,
      roles: ['manager'],
    };
    expect(parseDecision(decision).ok).toBe(true);
    const roles = Array.from({ length: 50 }, (_, n) => `${n}`.padEnd(400, '€'));
    expect(parseDecision({ ...decision, roles })).toMatchObject({
      ok: false,
      reason: expect.stringContaining('bytes'),
    });
  });

  test('a long id counts once, also after the end of a segment', () => {
    const shell = talking();
    until(shell, 'session_init');
    const id = '€'.repeat(400);
    send(shell, { type: 'user_message', text: 'hello', id });
    crossSegment(shell);
    send(shell, { type: 'user_message', text: 'hello', id });
    send(shell, { type: 'user_message', text: 'other', id: `${id.slice(1)}x` });
    settle(shell);
    expect(ofType(shell, 'user_message')).toHaveLength(2);
    expect(fitsBytes(shell.run.seenMessageIds, 200)).toBe(true);
  });
});

describe('a run at the end of its segment', () => {
  test('leaves events behind in the store until it is small enough', () => {
    const shell = settle(createShell(REFUND));
    for (let n = 0; n < 900; n += 1) {
      post(shell, { type: 'input_rejected', message: 'signal', reason: '€'.repeat(500) });
    }
    post(shell, { type: 'segment_full' });
    activate(shell);
    expect(shell.run.final).toBeUndefined();
    crossSegment(shell);
    expect(transitionsOf(shell)).toEqual(['continued_as_new']);
    settle(shell);
    answer(shell);
    expect(finish(shell).stopReason).toBe('completed');
    expect(executedOf(shell)).toHaveLength(1);
    expect(ofType(shell, 'warning')).toHaveLength(900);
  });

  test('that cannot become small enough ends, and says so', () => {
    const metadata = { notes: 'x'.repeat(CONTINUE_AS_NEW_BYTES_MAX) };
    const shell = settle(createShell({ ...REFUND, task: { metadata } }));
    send(shell, { type: 'segment_full' });
    expect(finish(shell)).toMatchObject({ stopReason: 'failed', detail: 'run_too_large' });
    expect(transitionsOf(shell)).toEqual([]);
  });

  test('carries the start no further than it is needed', () => {
    const shell = settle(createShell(REFUND));
    crossSegment(shell);
    settle(shell);
    expect(started(shell, 'open_run').map(({ input }) => input.start !== undefined)).toEqual([
      true,
      false,
    ]);
  });
});

describe('a payload that nothing can make smaller', () => {
  test('is never started: the run stops and names it', () => {
    const { model } = REFUND;
    const shell = createShell({
      model,
      task: { outputSchema: { description: 'x'.repeat(PAYLOAD_BYTES_MAX) } },
    });
    expect(finish(shell)).toMatchObject({
      stopReason: 'failed',
      detail: 'payload_too_large:call_model',
    });
    expect(requestsOf(shell)).toEqual([]);
    expect(shell.run.money.reserved).toEqual({});
  });

  test('leaves its events to a payload of their own', () => {
    const shell = createShell({ model: [failure('AuthError')] });
    until(shell, 'session_init');
    for (let n = 0; n < 400; n += 1) {
      post(shell, { type: 'input_rejected', message: 'signal', reason: '€'.repeat(500) });
    }
    expect(finish(shell).stopReason).toBe('failed');
    expect(ofType(shell, 'warning')).toHaveLength(400);
  });
});
