/** Answers and stops of a chat whose store is away, and answers that a run has not heard. */
import { HoldfastError } from '../../core/state/errors.js';
import { answerAll } from '../../http/answers.js';
import { runIdOf } from '../../http/chat.js';
import { deliveries } from '../../http/deliveries.js';
import { interruptAll } from '../../http/stopping.js';
import { chatting, HASH } from './away.js';

describe('while the store is away', () => {
  test('a decision goes to the run that holds its question, under the name of its person, and is told as sent', async () => {
    const { away, runId, open, answer } = chatting();
    const askId = open(`${runId}:3`);
    const response = await answer({ askId, decision: 'approve' });
    expect(response.status).toBe(202);
    expect(response.headers.get('content-type')).toBe('text/event-stream');
    const told = await response.text();
    expect(told).toContain('"type":"error","errorText":"The answer was sent, and its run says');
    expect(told.endsWith('data: [DONE]\n\n')).toBe(true);
    const { nonce } = away.decided[0] as { readonly nonce: string };
    expect(away.decided).toMatchObject([
      { runId, askId, argsHash: HASH, decision: 'approve', by: 'ann', roles: ['manager'] },
    ]);
    await answer({ askId, decision: 'approve' });
    expect(away.decided[1]).toMatchObject({ nonce });
  });

  test('the question of a sub-agent is asked of that run, and a text goes to it', async () => {
    const { away, runId, open, answer } = chatting();
    const below = `${runId}:a1`;
    const askId = open(`${below}:2`, { runId: below, ask: { askId: `${below}:2` } });
    expect((await answer({ askId, value: 'The blue one.' })).status).toBe(202);
    expect(away.answered).toMatchObject([{ runId: below, askId, value: 'The blue one.' }]);
  });

  test('a question of another chat is asked of no run, and one that no run holds is told so beside those that were sent', async () => {
    const { away, chat, runId, open, answer } = chatting();
    const other = `${chat.base.slice(0, -1)}_.0123456789abcdef01234567`;
    const foreign = open(`${other}:1`, { runId: other });
    const gone = `${runId}:1`;
    const refused = await (await answer({ askId: foreign, decision: 'approve' })).text();
    expect(refused).toContain(`"askId":"${foreign}","reason":"unknown_ask"`);
    expect(refused).not.toContain('was sent, and');
    const unsent = await answer({ askId: gone });
    expect(unsent.status).toBe(503);
    expect(unsent.headers.get('retry-after')).toBe('5');
    expect(await unsent.json()).toMatchObject({
      code: 'unavailable',
      detail: expect.stringContaining('Nothing is lost') as string,
      hint: 'Send the same request again: what it says counts once.',
    });
    expect(away.asked).toEqual([[gone, runId]]);
    expect([away.decided, away.answered]).toEqual([[], []]);
    const askId = open(`${runId}:3`);
    const told = await (await answer({ askId: gone }, { askId, decision: 'reject' })).text();
    expect(told).toContain(`"askId":"${gone}","reason":"unavailable"`);
    expect(away.decided).toMatchObject([{ askId, decision: 'reject' }]);
  });

  test('a question that has ended refuses another decision, and one about another action; only the store knows whose the same one was', async () => {
    const { away, chat, runId, open, answer } = chatting();
    const yes = open(`${runId}:3`, { outcome: 'approved' });
    const approval = { askId: yes, argsHash: HASH, decision: 'approve' } as const;
    expect(await answerAll(chat, [approval])).toMatchObject({
      refused: [{ askId: yes, reason: 'unavailable' }],
      decided: new Set(),
    });
    expect((await answer(approval)).status).toBe(503);
    const told = await (await answer({ ...approval, decision: 'reject' })).text();
    expect(told).toContain('No answer was sent now: its question has ended');
    for (const other of [{ decision: 'reject' }, { argsHash: 'a'.repeat(64) }] as const) {
      const { refused } = await answerAll(chat, [{ ...approval, ...other }]);
      expect(refused).toMatchObject([{ askId: yes, reason: 'already_decided' }]);
    }
    expect(away.decided).toEqual([]);
  });

  test('a text to a question that is answered is not told as sent: only the store knows whose answer that was', async () => {
    const { away, runId, open, answer } = chatting();
    const said = open(`${runId}:4`, { outcome: 'answered' });
    expect((await answer({ askId: said, value: 'Blue.' })).status).toBe(503);
    const yes = open(`${runId}:3`);
    const told = await (
      await answer({ askId: said, value: 'Blue.' }, { askId: yes, decision: 'approve' })
    ).text();
    expect(told).toContain(`"askId":"${said}","reason":"unavailable"`);
    expect(away.answered).toEqual([]);
  });

  test('a refusal of the run is told, and not that the answer was sent', async () => {
    const { away, runId, open, answer } = chatting();
    const askId = open(`${runId}:3`);
    away.refusal = new HoldfastError('DecisionRejected', 'The role is missing.', {
      details: { reason: 'role_missing' },
    });
    for (const said of [{ value: 'Blue.' }, { decision: 'approve' }]) {
      const response = await answer({ askId, ...said });
      expect(response.status).toBe(202);
      const told = await response.text();
      expect(told).toContain(`"askId":"${askId}","reason":"role_missing"`);
      expect(told).toContain('No answer was sent now');
    }
  });

  test('a stop goes to the runs that Temporal has of the chat, and not to what is below them', async () => {
    const { away, chat, runId, post } = chatting();
    const next = runIdOf({ sessionId: `${chat.base}.b0002` }, 'u2');
    away.running = [runId, `${runId}:a1`, `${runId}:a1:h1`, `${next}:h1`, 'run_of_others'];
    expect((await post('/c1/stop')).status).toBe(204);
    expect(away.interrupted).toEqual([runId, `${next}:h1`]);
    away.running = [];
    const unknown = await post('/c1/stop');
    expect(unknown.status).toBe(503);
    expect(unknown.headers.get('retry-after')).toBe('5');
  });

  test('a stop is not acknowledged where the runs of the list have ended', async () => {
    const { away, runId, post } = chatting();
    away.running = [runId];
    away.gone = [runId];
    expect((await post('/c1/stop')).status).toBe(503);
    expect(away.interrupted).toEqual([]);
  });

  test('a stop reaches the run that this process has just started, also of a changed message', async () => {
    const { away, chat, runId } = chatting();
    const begun = deliveries();
    const text = { words: '', text: 'Pay.' };
    const branch = `${chat.base}.b0002`;
    const next = runIdOf({ sessionId: branch }, 'u2');
    begun.unopened.set(chat.base, { runId, ...text });
    await interruptAll(begun, chat);
    begun.branches.set(chat.base, branch);
    begun.unopened.set(branch, { runId: next, ...text });
    away.gone = [runId];
    await interruptAll(begun, chat);
    expect(away.interrupted).toEqual([runId, next]);
  });
});

test('a word behind the limit of its question that no worker has heard is on its way: one that was sent in time may count', async () => {
  const { away, chat, runId, open } = chatting();
  away.storeAway = false;
  const askId = open(`${runId}:3`);
  const late = (details: object): HoldfastError =>
    new HoldfastError('DecisionRejected', 'The decision does not count.', {
      details: { reason: 'late', ...details },
    });
  away.refusal = late({ unheard: true });
  const said = { askId, argsHash: HASH, decision: 'approve' } as const;
  expect(await answerAll(chat, [said])).toMatchObject({
    refused: [],
    decided: new Set([askId]),
    isSent: true,
  });
  away.refusal = late({});
  expect(await answerAll(chat, [said])).toMatchObject({
    refused: [{ askId, reason: 'late' }],
    decided: new Set(),
    isSent: false,
  });
});
