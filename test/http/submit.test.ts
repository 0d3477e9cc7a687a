import { nameOf, newestOf, runIdOf, stoppable } from '../../http/chat.js';
import { deliveries, type Speaking } from '../../http/deliveries.js';
import type { UiChunk } from '../../http/projection/index.js';
import { resumable } from '../../http/resumable.js';
import { storedMessages } from '../../http/stored.js';
import { tellMessage, type Ending, type Telling } from '../../http/told.js';
import { chatWith, Runs } from './runs.js';

test('two messages at once are one run, which takes the second as a follow-up', async () => {
  const runs = new Runs();
  const { chat, say, submitting } = chatWith(runs);
  const [first, second] = await Promise.all([say('u1', 'Pay.'), say('u2', 'Thanks.')]);
  const runId = runIdOf(chat, 'u1');
  expect(first).toEqual({ runId, span: 'first' });
  const named = nameOf('u2');
  expect(second).toEqual({ runId, span: { named, text: 'Thanks.', after: 4 } });
  expect(runs.started).toEqual([runId]);
  expect(runs.heard).toMatchObject([{ text: 'Thanks.', name: named }]);
  expect(await stoppable(submitting.deliveries, chat)).toEqual([runId]);
});

test('two messages that come to two processes at once are one run as well', async () => {
  const runs = new Runs();
  const [one, other] = [chatWith(runs), chatWith(runs)];
  const [first, second] = await Promise.all([one.say('u1', 'Pay.'), other.say('u2', 'Thanks.')]);
  expect(first).toEqual({ runId: runIdOf(one.chat, 'u1'), span: 'first' });
  expect(second).toMatchObject({ runId: first.runId, span: { named: nameOf('u2') } });
  expect(runs.started).toEqual([first.runId]);
});

test('a run that another process was to begin and that never came is passed over', async () => {
  const runs = new Runs();
  const { chat, say } = chatWith(runs);
  for (const place of [0, 1])
    runs.beginners.set(`${chat.base}#${place}`, { name: 'gone#1', at: 0 });
  const at = await say('u1', 'Pay.');
  expect(at).toEqual({ runId: runIdOf(chat, 'u1'), span: 'first' });
  expect(runs.started).toEqual([at.runId]);
});

test('a run that another process is about to begin is waited for, however far its clock is off', async () => {
  const runs = new Runs();
  const { chat, say } = chatWith(runs);
  const runId = runIdOf(chat, 'u0');
  const at = Date.now() - 60_000;
  runs.beginners.set(`${chat.base}#0`, { name: `${runId}#1`, at });
  setTimeout(() => runs.open.add(runId), 50);
  expect(await say('u1', 'Pay.')).toMatchObject({ runId, span: { named: nameOf('u1') } });
  expect(runs.started).toEqual([]);
});

test('runs that never came hold a message up together, and one that begins behind them has its own time', async () => {
  const runs = new Runs();
  const { chat, say } = chatWith(runs);
  const coming = runIdOf(chat, 'u0');
  const at = Date.now() - 120_000;
  const gone = ['gone0', 'gone1', 'gone2'];
  for (const [place, name] of [...gone, coming].entries())
    runs.beginners.set(`${chat.base}#${place}`, { name, at: name === coming ? Date.now() : at });
  const looks: string[] = [];
  const { handle } = runs;
  runs.handle = (runId) => {
    looks.push(runId);
    // It is there at the second look.
    if (runId === coming && looks.includes(coming, looks.indexOf(coming) + 1))
      runs.open.add(coming);
    return handle(runId);
  };
  let now = 0;
  const clock = jest.spyOn(performance, 'now').mockImplementation(() => (now += 2_000));
  const said = await say('u1', 'Pay.').finally(() => clock.mockRestore());
  expect(said).toMatchObject({ runId: coming });
  const looksAt = (runId: string) => looks.filter((one) => one === runId).length;
  expect(looksAt('gone0')).toBeGreaterThan(1);
  expect(gone.slice(1).map(looksAt)).toEqual([1, 1]);
  expect(runs.started).toEqual([]);
});

test('a message that is sent again is not handed over again, also after the run that took it', async () => {
  const runs = new Runs();
  const { say } = chatWith(runs);
  const { runId } = await say('u1', 'Pay.');
  const at = await say('u2', 'Pay once more.');
  runs.end(runId);
  expect(await say('u2', 'Pay once more.')).toBe(at);
  expect(runs.heard).toHaveLength(1);
  // Another process knows the run that a message started, and what a run has heard.
  expect(await chatWith(runs).say('u1', 'Pay.')).toEqual({ runId, span: 'first' });
  expect(await chatWith(runs).say('u2', 'Pay once more.')).toEqual({ runId, span: { seq: 10 } });
  expect(runs.heard).toHaveLength(1);
  expect(runs.started).toHaveLength(1);
});

test('a run that no worker has opened takes the next message, and can be stopped', async () => {
  const runs = new Runs();
  const { chat, say, submitting } = chatWith(runs);
  runs.startFails = true;
  await expect(say('u1', 'Pay.')).rejects.toThrow('Late.');
  const runId = runIdOf(chat, 'u1');
  expect(await stoppable(submitting.deliveries, chat)).toEqual([runId]);
  expect(await say('u2', 'Thanks.')).toMatchObject({ runId });
  expect(runs.started).toEqual([runId]);
  runs.end(runId);
  expect(await stoppable(submitting.deliveries, chat)).toEqual([]);
});

test('the words that began a run are shown, and its stream is there, before a worker opens it', async () => {
  const runs = new Runs();
  const { chat, say, submitting } = chatWith(runs);
  runs.startFails = true;
  await expect(say('u1', 'Pay.')).rejects.toThrow('Late.');
  const runId = runIdOf(chat, 'u1');
  const { deliveries: known } = submitting;
  expect(await storedMessages(known, chat)).toMatchObject([
    { id: `${runId}:m0`, role: 'user', parts: [{ type: 'text', text: 'Pay.' }] },
  ]);
  expect(await resumable(known, chat, false)).toEqual({ runId, span: 'last' });
  runs.end(runId);
  expect(await storedMessages(known, chat)).toEqual([]);
  expect(await resumable(known, chat, false)).toBeUndefined();
});

test('a run that closes just before it hears a message leaves it to a run of its own', async () => {
  const runs = new Runs();
  const { chat, say } = chatWith(runs);
  await say('u1', 'Pay.');
  runs.closesBeforeWords = true;
  expect(await say('u2', 'Thanks.')).toEqual({ runId: runIdOf(chat, 'u2'), span: 'first' });
});

test('a message that a run heard just before it closed is handed to no other run', async () => {
  const runs = new Runs();
  const { say } = chatWith(runs);
  const { runId } = await say('u1', 'Pay.');
  runs.closesWithWords = true;
  expect(await say('u2', 'Thanks.')).toEqual({ runId, span: { seq: 10 } });
  expect(runs.started).toEqual([runId]);
});

describe('a message that is changed', () => {
  const user = (messageId: string, text: string) => ({ messageId, role: 'user', text });
  const answer = (messageId: string) => ({ messageId, role: 'assistant', text: 'Done.' });
  const EDIT = { kind: 'text' } as const;
  const AGAIN = { kind: 'answer' } as const;

  /** u1 and u2 are answered by runs of their own; u3 was heard by that of u2. */
  async function conversed() {
    const runs = new Runs();
    const { chat, say, submitting } = chatWith(runs);
    const one = await say('u1', 'One.');
    runs.end(one.runId);
    const two = await say('u2', 'Two.');
    await say('u3', 'Three.');
    runs.end(two.runId);
    runs.spoken.set(chat.base, [
      user(`${one.runId}:m0`, 'One.'),
      answer(`${one.runId}:m1`),
      user(`${two.runId}:m0`, 'Two.'),
      answer(`${two.runId}:m1`),
      user(`${two.runId}:m10`, 'Three.'),
      answer(`${two.runId}:m11`),
    ]);
    return { runs, chat, say, submitting, one, two };
  }

  test('goes on from the message before it, in a session that the chat is found by', async () => {
    const { runs, chat, say, submitting, one } = await conversed();
    const at = await say('u2', 'Two, changed.', EDIT);
    const sessionId = `${chat.base}.b0002`;
    const runId = runIdOf({ sessionId }, 'u2');
    expect(at).toEqual({ runId, span: 'first' });
    const fork = { at: `${one.runId}:m1` };
    expect(runs.starts.at(-1)).toMatchObject({ runId, sessionId, resume: chat.base, fork });
    expect((await newestOf(submitting.deliveries, chat)).sessionId).toBe(sessionId);
    expect(await say('u4', 'Four.')).toMatchObject({ runId });
    expect(await say('u2', 'Two, changed.')).toBe(at);
  });

  test('may have been heard as a follow-up, or be called as the conversation calls it', async () => {
    const { runs, say, two } = await conversed();
    const before = { at: `${two.runId}:m1` };
    await say('u3', 'Three, changed.', EDIT);
    expect(runs.starts.at(-1)).toMatchObject({ fork: before });
    const other = await conversed();
    await other.say(`${other.two.runId}:m10`, 'Three, changed.', EDIT);
    expect(other.runs.starts.at(-1)).toMatchObject({ fork: before });
  });

  test('is refused where another process has changed it since this one looked, also when that run has ended', async () => {
    const { runs, chat, say } = await conversed();
    const other = chatWith(runs);
    const { transcript } = runs;
    runs.transcript = async (sessionId) => {
      runs.transcript = transcript;
      const at = await other.say('u3', 'Three, changed.', EDIT);
      runs.end(at.runId);
      runs.spoken.set(`${chat.base}.b0002`, [user(`${at.runId}:m0`, 'Three, changed.')]);
      return transcript(sessionId);
    };
    const busy = { status: 409, facts: { code: 'busy' } };
    await expect(say('u3', 'Three, otherwise.', EDIT)).rejects.toMatchObject(busy);
    expect(runs.started).toHaveLength(3);
  });

  test('begins an empty session where it was the first one', async () => {
    const { runs, chat, say } = await conversed();
    await say('u1', 'Another one.', EDIT);
    expect(runs.starts.at(-1)).toMatchObject({ sessionId: `${chat.base}.b0002` });
    expect(runs.starts.at(-1)).not.toHaveProperty('resume');
  });

  test('is the same message where its words are the same and it is the last one', async () => {
    const { runs, say, two } = await conversed();
    expect(await say('u3', 'Three.', EDIT)).toEqual({ runId: two.runId, span: { seq: 10 } });
    expect(runs.started).toHaveLength(2);
    // Behind the second one another message was heard.
    expect(await say('u2', 'Two.', EDIT)).not.toMatchObject({ runId: two.runId });
  });

  test('stops the run that answers it, and a change that is sent again stops nothing', async () => {
    const { runs, chat, say } = await conversed();
    const at = await say('u2', 'Two, changed.', EDIT);
    expect(await say('u2', 'Two, changed.', EDIT)).toEqual(at);
    expect(runs.interrupted).toEqual([]);
    runs.spoken.set(`${chat.base}.b0002`, [user(`${at.runId}:m0`, 'Two, changed.')]);
    const next = await say('u2', 'Two, changed again.', EDIT);
    expect(runs.interrupted).toEqual([at.runId]);
    expect(next.runId).toBe(runIdOf({ sessionId: `${chat.base}.b0003` }, 'u2'));
    expect(runs.starts.at(-1)).not.toHaveProperty('resume');
  });

  test('is answered anew, unless its answer is under way or is another one than the client replaces', async () => {
    const { runs, say, two } = await conversed();
    const at = await say('u3', 'Three.', AGAIN);
    expect(at.runId).not.toBe(two.runId);
    expect(await say('u3', 'Three.', AGAIN)).toEqual(at);
    expect(await say('u3', 'Three.', { ...AGAIN, of: two.runId })).toEqual(at);
    expect(runs.started).toHaveLength(3);
    expect(runs.interrupted).toEqual([]);
  });

  test('leaves the conversation as it was where its run came to nothing, and may be changed again', async () => {
    const { runs, chat, say, two } = await conversed();
    const failed = await say('u3', 'Three, changed.', EDIT);
    runs.end(failed.runId);
    // Nothing of it is stored: the next message goes on with the session before.
    await say('u4', 'Four.');
    expect(runs.starts.at(-1)).toMatchObject({ resume: chat.base });
    runs.end(runs.started.at(-1)!);
    const again = await say('u3', 'Three, changed.', EDIT);
    expect(again.runId).toBe(runIdOf({ sessionId: `${chat.base}.b0003` }, 'u3'));
    expect(runs.starts.at(-1)).toMatchObject({ fork: { at: `${two.runId}:m1` } });
  });

  test('is begun anew where the first run of its chat came to nothing', async () => {
    const runs = new Runs();
    const { chat, say } = chatWith(runs);
    const { runId } = await say('u1', 'One.');
    runs.end(runId);
    const sessionId = `${chat.base}.b0002`;
    expect((await say('u1', 'One.', AGAIN)).runId).toBe(runIdOf({ sessionId }, 'u1'));
  });

  test('is a new message where no run has heard it', async () => {
    const { runs, chat, say } = await conversed();
    expect(await say('u9', 'Nine.', EDIT)).toMatchObject({ runId: runIdOf(chat, 'u9') });
    expect(runs.starts.at(-1)).toMatchObject({ resume: chat.base });
  });

  test('is refused where a summary stands for it', async () => {
    const { runs, chat, say } = await conversed();
    runs.spoken.set(chat.base, [user(`${chat.base}.x:m0`, 'A summary.')]);
    await expect(say('u1', 'Changed.', EDIT)).rejects.toMatchObject({ status: 409 });
    await expect(say('u3', 'Changed.', EDIT)).rejects.toMatchObject({ status: 409 });
  });
});

describe('the conversation of a page that is loaded', () => {
  const words = (messages: readonly { parts: readonly object[] }[]) =>
    messages.map(({ parts }) => parts.map((part) => ('text' in part ? part.text : '')).join(''));
  const said = (messageId: string, role: string, text: string) => ({ messageId, role, text });

  async function answering() {
    const runs = new Runs();
    const { chat, say } = chatWith(runs);
    const one = await say('u1', 'One.');
    runs.end(one.runId);
    const before = [
      said(`${one.runId}:m0`, 'user', 'One.'),
      said(`${one.runId}:m1`, 'assistant', '1'),
    ];
    runs.spoken.set(chat.base, before);
    const { runId } = await say('u2', 'Two.');
    return { runs, chat, say, runId, before };
  }

  test('has the words of its user and not the answer that is under way, whatever of the run is stored', async () => {
    const { runs, chat, runId, before } = await answering();
    const expected = ['One.', '1', 'Two.'];
    expect(words(await storedMessages(deliveries(), chat))).toEqual(expected);
    runs.spoken.set(runId, before);
    expect(words(await storedMessages(deliveries(), chat))).toEqual(expected);
    const own = [said(`${runId}:m0`, 'user', 'Two.'), said(`${runId}:m1`, 'assistant', '2')];
    runs.spoken.set(runId, [...before, ...own]);
    expect(words(await storedMessages(deliveries(), chat))).toEqual(expected);
  });

  test('has what a run answered before its follow-up, which may not be stored yet', async () => {
    const { runs, chat, say, runId, before } = await answering();
    const own = [said(`${runId}:m0`, 'user', 'Two.'), said(`${runId}:m1`, 'assistant', '2')];
    runs.spoken.set(runId, [...before, ...own]);
    await say('u3', 'Three.');
    const expected = ['One.', '1', 'Two.', '2', 'Three.'];
    expect(words(await storedMessages(deliveries(), chat))).toEqual(expected);
    const more = [said(`${runId}:m10`, 'user', 'Three.'), said(`${runId}:m11`, 'assistant', '3')];
    runs.spoken.set(runId, [...before, ...own, ...more]);
    expect(words(await storedMessages(deliveries(), chat))).toEqual(expected);
  });
});

test('answers of a loaded conversation are called as their streams call them', async () => {
  const runs = new Runs();
  const { chat, say } = chatWith(runs);
  const { runId } = await say('u1', 'One.');
  await say('u2', 'Two.');
  await say('u3', 'Three.');
  runs.end(runId);
  runs.heard.pop();
  const said = (n: number, role: string) => ({ messageId: `${runId}:m${n}`, role, text: 'x' });
  const spoken = [said(0, 'user'), said(1, 'assistant'), said(10, 'user'), said(11, 'assistant')];
  runs.spoken.set(chat.base, [...spoken, said(12, 'user'), said(13, 'assistant')]);
  const answers = (await storedMessages(deliveries(), chat)).filter(
    ({ role }) => role === 'assistant',
  );
  // Runs of older rules do not tell where they heard a message: its answer has a name all the same.
  const names = [runId, `${runId}:u10`, `${runId}:m12:answer`];
  expect(answers.map(({ id }) => id)).toEqual(names);
});

test('what is remembered is bounded, and a later delivery is not forgotten with an earlier one', () => {
  const two = deliveries(2);
  const at = (runId: string): Speaking => ({ runId, span: 'first' });
  const [a, b, c, later] = [at('a'), at('b'), at('c'), at('later')];
  two.remember('a', a);
  two.remember('b', b);
  two.remember('c', c);
  expect(two.of('a')).toBeUndefined();
  two.remember('b', later);
  two.forget('b', b);
  expect(two.of('b')).toBe(later);
});

describe('the message after a follow-up', () => {
  const words = (seq: number, text: string, clientMessageId?: string) => ({
    kind: 'event',
    event: {
      type: 'user_message',
      messageId: `r:m${seq}`,
      text: { text },
      ...(clientMessageId !== undefined && { clientMessageId }),
      stamp: { seq },
    },
  });
  const end = (seq: number) => ({
    kind: 'event',
    event: {
      type: 'run_result',
      result: { status: 'completed', stopReason: 'completed' },
      stamp: { seq },
    },
  });

  async function tell(
    runs: Runs,
    from: Pick<Telling, 'span' | 'seen'> = {
      span: { named: 'mine', text: 'Yes.', after: 4 },
    },
  ): Promise<{ chunks: readonly UiChunk[]; ending: Ending }> {
    const { chat } = chatWith(runs);
    const { signal } = new AbortController();
    const telling = tellMessage({
      chat,
      runId: 'r',
      ...from,
      options: {},
      limit: signal,
      left: signal,
    });
    const chunks: UiChunk[] = [];
    for (;;) {
      const { done, value } = await telling.next();
      if (done === true) return { chunks, ending: value };
      chunks.push(value);
    }
  }

  test('begins with its words, and not with the same words said before', async () => {
    const runs = new Runs();
    runs.moments = [words(3, 'Yes.'), words(7, 'No.'), words(9, 'Yes.'), end(12)];
    const { chunks, ending } = await tell(runs);
    expect(ending).toBe('told');
    expect(chunks[0]).toEqual({ type: 'start', messageId: 'r:u9' });
    expect(chunks.at(-1)).toMatchObject({ type: 'finish' });
  });

  test('begins where its run names it, whatever others say in the same words', async () => {
    const runs = new Runs();
    runs.moments = [words(7, 'Yes.', 'other'), words(9, 'Yes.', 'mine'), end(12)];
    expect((await tell(runs)).chunks[0]).toEqual({ type: 'start', messageId: 'r:u9' });
  });

  test('is read from its own event on, and its tokens from the event that the client has', async () => {
    const runs = new Runs();
    runs.heard.push({ runId: 'r', seq: 9, messageId: 'r:m9', name: 'mine', text: 'Yes.' });
    runs.moments = [words(9, 'Yes.', 'mine'), end(12)];
    const { chunks } = await tell(runs, { span: 'last', seen: 11 });
    expect(runs.followed).toEqual([
      expect.objectContaining({ since: 9, after: '7.0', tokensSince: 12 }),
    ]);
    expect(chunks.map(({ type }) => type)).toEqual(['start', 'data-holdfast-run', 'finish']);
    await tell(runs);
    expect(runs.followed[1]).toMatchObject({ since: 9, tokensSince: 0 });
  });

  test('is found where it was heard, whatever was heard after it', async () => {
    const runs = new Runs();
    runs.heard.push({ runId: 'r', seq: 9, messageId: 'r:m9', name: 'mine', text: 'Yes.' });
    runs.heard.push({ runId: 'r', seq: 12, messageId: 'r:m12', name: 'other', text: 'No.' });
    runs.moments = [words(9, 'Yes.', 'mine'), words(12, 'No.', 'other'), end(15)];
    await tell(runs);
    expect(runs.followed).toEqual([expect.objectContaining({ since: 9 })]);
  });

  test('of a run that tells no names is read from what was there when it was sent', async () => {
    const runs = new Runs();
    runs.heard.push({ runId: 'r', seq: 3, messageId: 'r:m3', name: 'old', text: 'Yes.' });
    runs.heard.push({ runId: 'r', seq: 9, messageId: 'r:m9', name: '', text: 'Yes.' });
    runs.heard.push({ runId: 'r', seq: 12, messageId: 'r:m12', name: '', text: 'No.' });
    runs.moments = [words(3, 'Yes.'), words(9, 'Yes.'), words(12, 'No.'), end(15)];
    expect((await tell(runs)).chunks[0]).toEqual({ type: 'start', messageId: 'r:u9' });
    expect(runs.followed).toEqual([expect.objectContaining({ since: 3 })]);
  });

  test('has never begun only where the run says that it left a message out', async () => {
    const runs = new Runs();
    runs.moments = [words(3, 'Yes.'), end(12)];
    const heard = await tell(runs);
    expect(heard.ending).toBe('told');
    expect(heard.chunks).toEqual([expect.objectContaining({ type: 'error' })]);
    runs.unprocessed = ['user_message'];
    expect(await tell(runs)).toEqual({ chunks: [], ending: 'never_begun' });
  });
});
