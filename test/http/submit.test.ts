import { chatOf, nameOf, newestOf, runIdOf, stoppable } from '../../http/chat.js';
import { deliveries, type Speaking } from '../../http/deliveries.js';
import { checkOptions, type ChatHandlerOptions } from '../../http/options.js';
import type { UiChunk } from '../../http/projection/index.js';
import type { SaidMessage } from '../../http/said.js';
import { storedMessages } from '../../http/stored.js';
import { stopAll } from '../../http/stopping.js';
import { submit, submitAgain, type Submitting } from '../../http/submit.js';
import { tellMessage, type Ending, type Telling } from '../../http/told.js';
import { sha256Hex } from '../../core/json/json.js';
import { HoldfastError } from '../../core/state/errors.js';

const gone = (): never => {
  throw new HoldfastError('RunNotFound', 'There is no such run.', { hint: 'None.' });
};

interface Heard {
  readonly runId: string;
  readonly seq: number;
  readonly messageId: string;
  readonly name: string;
  readonly text: string;
}

type Start = {
  readonly runId: string;
  readonly sessionId?: string;
  readonly resume?: string;
  readonly fork?: { readonly at: string };
  readonly task: { readonly goal: string };
};

/** A client of runs that are lists of words. */
class Runs {
  readonly starts: Start[] = [];
  readonly heard: Heard[] = [];
  readonly open = new Set<string>();
  readonly closed = new Set<string>();
  readonly interrupted: string[] = [];
  /** Conversations, by session. */
  readonly spoken = new Map<string, object[]>();
  /** How runs were read. */
  readonly followed: object[] = [];
  /** Of a run that is told whole. */
  moments: object[] = [];
  unprocessed: readonly string[] = [];
  startFails = false;
  closesBeforeWords = false;
  /** The run hears what it is told and ends at once. */
  closesWithWords = false;
  /** Runs that end without having stored their conversation. */
  readonly brokenOff = new Set<string>();
  /** Runs that no worker has opened. */
  readonly unopened = new Set<string>();
  /** Runs that wait for their user. */
  readonly waiting = new Set<string>();
  /** Calls that nobody knows the outcome of, by run. */
  readonly inDoubt = new Map<string, string>();
  /** What runs heard waits in them. */
  queues = false;
  readonly closings: string[] = [];
  interruptEnds = true;

  get started(): readonly string[] {
    return this.starts.map(({ runId }) => runId);
  }

  get opened(): readonly string[] {
    return this.started.filter((runId) => !this.unopened.has(runId));
  }

  follow = () => undefined;

  followTree = async function* (this: Runs, _: string, options: object) {
    this.followed.push(options);
    for (const moment of this.moments) yield { of: { runId: 'r', depth: 0 }, ...moment };
  }.bind(this);

  session = async (sessionId: string) => ({
    openRuns: this.startFails
      ? []
      : [...this.open].filter((id) => sessionOf(id) === sessionId && !this.unopened.has(id)),
    ...(this.spoken.has(sessionId) && { stored: { runId: 'any' } }),
  });

  transcript = async (sessionId: string) => {
    const messages = this.spoken.get(sessionId);
    if (messages !== undefined) return { messages };
    throw new HoldfastError('SessionNotFound', 'There is no such session.', { hint: 'None.' });
  };

  start = async (start: Start) => {
    const { runId } = start;
    this.starts.push(start);
    await Promise.resolve();
    this.open.add(runId);
    if (this.startFails) this.unopened.add(runId);
    if (this.startFails) throw new HoldfastError('ServerUnavailable', 'Late.', { hint: 'Wait.' });
  };

  message = async (runId: string, text: string, name: string) => {
    if (this.closesBeforeWords) this.end(runId);
    if (!this.open.has(runId)) gone();
    const seq = 10 + this.heard.length;
    if (!this.queues) this.heard.push({ runId, seq, messageId: `${runId}:m${seq}`, name, text });
    if (!this.closesWithWords) return name;
    this.end(runId);
    return gone();
  };

  conversations = {
    named: async (name: string, below = '') =>
      this.heard.filter((one) => one.name === name && one.runId.startsWith(below)),
    heardBy: async (runId: string) => this.heard.filter((one) => one.runId === runId),
    awaitsUser: async (runId: string) => this.waiting.has(runId),
    last: async (runId: string, upTo = Infinity) =>
      this.heard.findLast((one) => one.runId === runId && one.seq <= upTo),
    lastSeq: async (runId: string) => (this.unopened.has(runId) ? -1 : 4),
    lastSession: async (prefix: string) =>
      [...this.spoken.keys(), ...this.opened.map(sessionOf)]
        .filter((id) => id.startsWith(prefix))
        .sort()
        .at(-1),
    place: async (_: string, { since, seen }: { since: number; seen?: number }) => ({
      since,
      asks: [],
      ...(seen !== undefined && { after: '7.0' }),
    }),
  };

  handle = (runId: string) => ({
    execution: async () => {
      if (!this.open.has(runId) && !this.closed.has(runId)) gone();
      return { closed: this.closed.has(runId) };
    },
    events: async function* (this: Runs, { since }: { readonly since: number }) {
      if (this.unopened.has(runId)) return;
      if (since === 4) {
        if (this.brokenOff.has(runId)) yield { type: 'tool_started' };
        else yield { type: 'run_result' };
        return;
      }
      const heard = this.heard.find((one) => one.runId === runId && one.seq === since);
      const start = this.starts.find((one) => one.runId === runId);
      if (heard !== undefined) yield { type: 'user_message', text: { text: heard.text } };
      else yield { type: 'session_init', goal: this.stored(start?.task.goal ?? '') };
      const tool = this.inDoubt.get(runId);
      if (tool !== undefined) yield { type: 'tool_finished', tool, code: 'outcome_unknown' };
    }.bind(this),
    result: async () => ({ unprocessed: this.unprocessed }),
    interrupt: async () => {
      this.interrupted.push(runId);
      if (this.interruptEnds) this.end(runId);
    },
    close: async () => {
      this.closings.push(runId);
      // The first one comes with the interrupt, which pauses the run.
      if (this.closings.filter((one) => one === runId).length > 1) this.end(runId);
    },
  });

  private stored(text: string): object {
    if (text.length <= 4096) return { text };
    return { $blob: sha256Hex(text), bytes: text.length, preview: text.slice(0, 200) };
  }

  end(runId: string): void {
    this.open.delete(runId);
    this.closed.add(runId);
  }
}

function sessionOf(runId: string): string {
  return runId.replace(/\.[0-9a-f]{24}$/, '');
}

function chatWith(runs: Runs) {
  const client = runs as unknown as ChatHandlerOptions['client'];
  const options = checkOptions({ client, agent: 'desk', insecure: true });
  const submitting: Submitting = { options, deliveries: deliveries() };
  const chat = chatOf(options, { actor: { id: 'ann' } }, 'c1');
  const say = (id: string, text: string, change?: SaidMessage['change'], rest: object = {}) =>
    submit(submitting, chat, { id, text, ...(change && { change }), ...rest });
  return { chat, say, submitting };
}

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
    expect(words(await storedMessages(chat))).toEqual(expected);
    runs.spoken.set(runId, before);
    expect(words(await storedMessages(chat))).toEqual(expected);
    const own = [said(`${runId}:m0`, 'user', 'Two.'), said(`${runId}:m1`, 'assistant', '2')];
    runs.spoken.set(runId, [...before, ...own]);
    expect(words(await storedMessages(chat))).toEqual(expected);
  });

  test('has what a run answered before its follow-up, which may not be stored yet', async () => {
    const { runs, chat, say, runId, before } = await answering();
    const own = [said(`${runId}:m0`, 'user', 'Two.'), said(`${runId}:m1`, 'assistant', '2')];
    runs.spoken.set(runId, [...before, ...own]);
    await say('u3', 'Three.');
    const expected = ['One.', '1', 'Two.', '2', 'Three.'];
    expect(words(await storedMessages(chat))).toEqual(expected);
    const more = [said(`${runId}:m10`, 'user', 'Three.'), said(`${runId}:m11`, 'assistant', '3')];
    runs.spoken.set(runId, [...before, ...own, ...more]);
    expect(words(await storedMessages(chat))).toEqual(expected);
  });
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
