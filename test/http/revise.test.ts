import { setTimeout as sleep } from 'node:timers/promises';
import { nameOf, newestOf, runIdOf } from '../../http/chat.js';
import type { Speaking } from '../../http/deliveries.js';
import { stopAll } from '../../http/stopping.js';
import { submitAgain } from '../../http/submit.js';
import { chatWith, Runs } from './runs.js';

const EDIT = { kind: 'text' } as const;
const AGAIN = { kind: 'answer' } as const;
const user = (messageId: string, text: string) => ({ messageId, role: 'user', text });
const answer = (messageId: string) => ({ messageId, role: 'assistant', text: 'Done.' });

/** u1 has been answered by a run of its own. */
async function begun(words = 'One.') {
  const runs = new Runs();
  const { chat, say, submitting } = chatWith(runs);
  const { runId } = await say('u1', words);
  runs.end(runId);
  runs.spoken.set(chat.base, [user(`${runId}:m0`, words), answer(`${runId}:m1`)]);
  return { runs, chat, say, submitting, runId };
}

test('runs are told the names of messages that the release before told them', () => {
  expect(nameOf('u2')).toBe('chat_6ca202c88e549dff68c09bfafbfc60b2fac074de');
});

test('a message that others gave the same name to is handed over', async () => {
  const { runs, say } = await begun();
  const { runId } = await say('u2', 'Two.');
  runs.heard.push({ runId: 'another', seq: 3, messageId: 'x', name: nameOf('u9'), text: 'Nine.' });
  expect(await say('u9', 'Nine.')).toMatchObject({ runId, span: { named: nameOf('u9') } });
});

test.each([
  ['one message', 'u1'],
  ['two messages', 'u2'],
])(
  'of two changes of %s in two processes at once one holds, and the other is told so',
  async (_, id) => {
    const { runs, chat, say, runId } = await begun();
    const second = (await say('u2', 'Two.')).runId;
    runs.end(second);
    const spoken = runs.spoken.get(chat.base)!;
    runs.spoken.set(chat.base, [...spoken, user(`${second}:m0`, 'Two.'), answer(`${second}:m1`)]);
    const changes = await Promise.allSettled([
      say('u1', 'Another.', EDIT),
      chatWith(runs).say(id, 'A third.', EDIT),
    ]);
    const failed = changes.flatMap((one) => (one.status === 'rejected' ? [one.reason] : []));
    expect(failed).toMatchObject([{ status: 409, facts: { code: 'busy' } }]);
    expect(runs.started.slice(2)).toHaveLength(1);
    expect(runs.started.slice(0, 2)).toEqual([runId, second]);
  },
);

describe('of a change and a message in two processes at once', () => {
  test('the message goes behind the change that is about to begin', async () => {
    const { runs, chat, say } = await begun();
    const { start } = runs;
    let sent: Promise<Speaking> | undefined;
    runs.start = async (one) => {
      runs.start = start;
      sent = chatWith(runs).say('u2', 'Two.');
      await sleep(20);
      return start(one);
    };
    const changed = await say('u1', 'Changed.', EDIT);
    expect(await sent).toMatchObject({ runId: changed.runId, span: { named: nameOf('u2') } });
    expect(changed.runId).toContain(`${chat.base}.b0002.`);
    expect(runs.started.slice(1)).toEqual([changed.runId]);
  });

  test('the message goes on with what the change has stored, also where its run has ended', async () => {
    const { runs, chat, say } = await begun();
    const { named } = runs.conversations;
    runs.conversations.named = async (...asked) => {
      runs.conversations.named = named;
      const { runId } = await say('u1', 'Changed.', EDIT);
      runs.end(runId);
      runs.spoken.set(`${chat.base}.b0002`, [user(`${runId}:m0`, 'Changed.')]);
      return named(...asked);
    };
    await chatWith(runs).say('u2', 'Two.');
    expect(runs.starts.at(-1)).toMatchObject({ resume: `${chat.base}.b0002` });
  });

  test('the change is refused where the message was faster, and stops nothing', async () => {
    const { runs, chat, say } = await begun();
    const { transcript } = runs;
    runs.transcript = async (sessionId) => {
      runs.transcript = transcript;
      await chatWith(runs).say('u2', 'Two.');
      return transcript(sessionId);
    };
    const busy = { status: 409, facts: { code: 'busy' } };
    await expect(say('u1', 'Changed.', EDIT)).rejects.toMatchObject(busy);
    expect(runs.started.slice(1)).toEqual([runIdOf(chat, 'u2')]);
    expect(runs.interrupted).toEqual([]);
  });

  test('words that the stopped run did not hear are not handed over', async () => {
    const { runs, chat, say } = await begun();
    const other = chatWith(runs);
    await say('u2', 'Two.');
    runs.queues = true;
    const unheard = await other.say('u3', 'Three.');
    const { start } = runs;
    let again: Promise<Speaking | undefined> | undefined;
    runs.start = async (one) => {
      runs.start = start;
      const message = { id: 'u3', text: 'Three.' };
      again = submitAgain(other.submitting, chat, { message, unheard });
      await sleep(20);
      return start(one);
    };
    const changed = await say('u1', 'Changed.', EDIT);
    expect(await again).toBeUndefined();
    expect(runs.started.slice(2)).toEqual([changed.runId]);
  });

  test('the change waits for a run that has told its end and is still closing', async () => {
    const { runs, say } = await begun();
    const { runId } = await say('u2', 'Two.');
    const { session } = runs;
    runs.session = async (id) => ({ ...(await session(id)), openRuns: [] });
    setTimeout(() => runs.end(runId), 60);
    expect((await say('u1', 'Changed.', EDIT)).runId).not.toBe(runId);
    expect(runs.interrupted).toEqual([]);
    expect(runs.closed).toContain(runId);
  });

  test('the message goes on with the conversation before a change that came to nothing', async () => {
    const { runs, chat, say } = await begun();
    const { runId } = await say('u1', 'Changed.', EDIT);
    runs.end(runId);
    runs.brokenOff.add(runId);
    await chatWith(runs).say('u2', 'Two.');
    expect(runs.starts.at(-1)).toMatchObject({ resume: chat.base });
  });

  test('so it does where the change comes to nothing when its run is told the message', async () => {
    const { runs, chat, say } = await begun();
    const { runId } = await say('u1', 'Changed.', EDIT);
    // Only Temporal knows it.
    runs.unopened.add(runId);
    runs.closesBeforeWords = true;
    await chatWith(runs).say('u2', 'Two.');
    expect(runs.starts.at(-1)).toMatchObject({ resume: chat.base });
  });
});

describe('a change stops nothing', () => {
  test('where a summary stands for its message', async () => {
    const { runs, chat, say, runId } = await begun();
    runs.spoken.set(chat.base, [user(`${chat.base}.x:m0`, 'A summary.')]);
    await say('u2', 'Two.');
    await expect(say('u1', 'Changed.', EDIT)).rejects.toMatchObject({ status: 409 });
    await expect(say(`${runId}:m0`, 'Changed.', EDIT)).rejects.toMatchObject({ status: 409 });
    expect(runs.interrupted).toEqual([]);
  });

  test('where the same words wait for an open run, or were never given to one', async () => {
    const { runs, chat, say } = await begun();
    await say('u2', 'Two.');
    runs.queues = true;
    const at = await say('u3', 'Three.');
    expect(await say('u3', 'Three.', EDIT)).toBe(at);
    expect(await say('u3', 'Three.', AGAIN)).toBe(at);
    await say('u4', 'Four.', EDIT);
    expect(runs.interrupted).toEqual([]);
    const looked = jest.spyOn(runs, 'handle');
    await say('u3', 'Three, changed.', EDIT);
    expect(runs.interrupted).toEqual([at.runId]);
    // The change came to nothing, as its message was heard by nobody: it is not waited for.
    const sessionId = `${chat.base}.b0002`;
    expect(looked.mock.calls.flat()).not.toContain(runIdOf({ sessionId }, 'u3'));
  });

  test('where its run with the same words waits for a worker, whichever process started it', async () => {
    const { runs, say } = await begun();
    runs.startFails = true;
    await expect(say('u2', 'Two.')).rejects.toThrow('Late.');
    runs.startFails = false;
    const runId = runs.started.at(-1);
    expect(await say('u2', 'Two.', EDIT)).toMatchObject({ runId });
    expect(await chatWith(runs).say('u2', 'Two.', EDIT)).toMatchObject({ runId });
    expect(runs.interrupted).toEqual([]);
    await say('u2', 'Two, changed.', EDIT);
    expect(runs.interrupted).toEqual([runId]);
    expect(runs.starts.at(-1)?.task.goal).toBe('Two, changed.');
  });
});

test.each(['unopened', 'brokenOff'] as const)(
  'a message whose run was %s is given to another run, after the conversation',
  async (kind) => {
    const { runs, chat, say, runId } = await begun();
    const lost = await say('u2', 'Two.');
    runs.end(lost.runId);
    runs[kind].add(lost.runId);
    const at = await say('u2', 'Two.', AGAIN);
    expect(at.runId).toBe(runIdOf({ sessionId: `${chat.base}.b0002` }, 'u2'));
    const fork = { at: `${runId}:m1` };
    expect(runs.starts.at(-1)).toMatchObject({ resume: chat.base, fork });
  },
);

test('a branch whose run broke off is passed over by every process', async () => {
  const { runs, chat, say } = await begun();
  await say('u2', 'Two.');
  const { runId } = await say('u2', 'Two, changed.', EDIT);
  expect(runId).toContain('.b0002.');
  runs.end(runId);
  const other = chatWith(runs);
  expect((await newestOf(other.submitting.deliveries, chat)).sessionId).toBe(chat.base);
  await other.say('u3', 'Three.');
  expect(runs.starts.at(-1)).toMatchObject({ resume: chat.base });
});

test('long texts are compared whole', async () => {
  const long = 'x'.repeat(5_000);
  const { say, runId } = await begun(`${long}2024`);
  expect(await say('u1', `${long}2024`, EDIT)).toMatchObject({ runId });
  expect(await say('u1', `${long}2025`, EDIT)).not.toMatchObject({ runId });
});

test('the answer of a run that waits for its user is whole, and made anew', async () => {
  const { runs, say } = await begun();
  const { runId } = await say('u2', 'Two.');
  expect(await say('u2', 'Two.', AGAIN)).toMatchObject({ runId });
  runs.waiting.add(runId);
  expect(await say('u2', 'Two.', AGAIN)).not.toMatchObject({ runId });
  expect(runs.interrupted).toEqual([runId]);
});

test('words that were not heard are not handed over behind a change', async () => {
  const { runs, chat, say, submitting, runId } = await begun();
  const { runId: open } = await say('u2', 'Two.');
  runs.queues = true;
  const unheard = await say('u3', 'Three.');
  const changed = await say('u1', 'One, changed.', EDIT);
  const message = { id: 'u3', text: 'Three.' };
  expect(runs.interrupted).toEqual([open]);
  expect(await submitAgain(submitting, chat, { message, unheard })).toBeUndefined();
  expect(changed.runId).not.toBe(runId);
  expect(runs.started).toHaveLength(3);
});

test('a follow-up that a loaded page names is compared with its own words', async () => {
  const { runs, chat, say } = await begun();
  const { runId } = await say('u2', 'Two.');
  await say('u3', 'Three.');
  runs.end(runId);
  const name = `${runId}:m10`;
  const words = [user(`${runId}:m0`, 'Two.'), user(name, 'Three.'), answer(`${runId}:m11`)];
  runs.spoken.set(chat.base, words);
  expect(await say(name, 'Three.', EDIT)).toEqual({ runId, span: { seq: 10 } });
  expect(await say(name, 'Two.', EDIT)).not.toMatchObject({ runId });
});

test('an answer with a call that nobody knows the outcome of is not replaced in silence', async () => {
  const { runs, say, runId } = await begun();
  runs.inDoubt.set(runId, 'pay');
  const refused = { status: 409, facts: { code: 'outcome_unknown' } };
  await expect(say('u1', 'One.', AGAIN)).rejects.toMatchObject(refused);
  await expect(say('u1', 'Changed.', EDIT)).rejects.toMatchObject(refused);
  expect(runs.started).toHaveLength(1);
  const at = await say('u1', 'One.', AGAIN, { acceptUnknown: true });
  expect(at.runId).not.toBe(runId);
});

test('a message whose run broke off in a call is not given to another run in silence', async () => {
  const { runs, say } = await begun();
  const { runId } = await say('u2', 'Two.');
  runs.end(runId);
  runs.brokenOff.add(runId);
  runs.inDoubt.set(runId, 'pay');
  const refused = { status: 409, facts: { code: 'outcome_unknown' } };
  await expect(say('u2', 'Two.', AGAIN)).rejects.toMatchObject(refused);
  expect(await say('u2', 'Two.', AGAIN, { acceptUnknown: true })).not.toMatchObject({ runId });
});

test('a run that an interrupt pauses is closed once more', async () => {
  const { runs, chat, say } = await begun();
  const { runId } = await say('u2', 'Two.');
  runs.interruptEnds = false;
  await stopAll(chat, [runId], { stopMs: 2_000, lookMs: 1 });
  expect(runs.closings).toEqual([runId, runId]);
});
