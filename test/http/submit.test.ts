import { chatOf, runIdOf, stoppable, submit, type Submitting } from '../../http/chat.js';
import { deliveries, type Speaking } from '../../http/deliveries.js';
import { checkOptions, type ChatHandlerOptions } from '../../http/options.js';
import type { UiChunk } from '../../http/projection/index.js';
import { tellMessage, type Ending } from '../../http/told.js';
import { HoldfastError } from '../../core/state/errors.js';

const gone = (): never => {
  throw new HoldfastError('RunNotFound', 'There is no such run.', { hint: 'None.' });
};

/** A client of runs that are lists of words. */
class Runs {
  readonly started: string[] = [];
  readonly heard: string[] = [];
  readonly open = new Set<string>();
  readonly closed = new Set<string>();
  /** Of a run that is told whole. */
  moments: object[] = [];
  unprocessed: readonly string[] = [];
  startFails = false;
  closesBeforeWords = false;

  follow = async function* (this: Runs) {
    yield* this.moments;
  }.bind(this);

  session = async () => ({ openRuns: this.startFails ? [] : [...this.open] });

  start = async ({ runId }: { readonly runId: string }) => {
    this.started.push(runId);
    await Promise.resolve();
    this.open.add(runId);
    if (this.startFails) throw new HoldfastError('ServerUnavailable', 'Late.', { hint: 'Wait.' });
  };

  message = async (runId: string, text: string, id: string) => {
    if (this.closesBeforeWords) this.end(runId);
    if (!this.open.has(runId)) gone();
    this.heard.push(text);
    return id;
  };

  handle = (runId: string) => ({
    execution: async () => {
      if (!this.open.has(runId) && !this.closed.has(runId)) gone();
      return { closed: this.closed.has(runId) };
    },
    events: async function* () {
      yield { type: 'stop', stamp: { seq: 4 } };
    },
    result: async () => ({ unprocessed: this.unprocessed }),
  });

  end(runId: string): void {
    this.open.delete(runId);
    this.closed.add(runId);
  }
}

function chatWith(runs: Runs) {
  const client = runs as unknown as ChatHandlerOptions['client'];
  const options = checkOptions({ client, agent: 'desk', insecure: true });
  const submitting: Submitting = { options, deliveries: deliveries() };
  const chat = chatOf(options, { actor: { id: 'ann' } }, 'c1');
  const say = (id: string, text: string) => submit(submitting, chat, { id, text });
  return { chat, say, submitting };
}

test('two messages at once are one run, which takes the second as a follow-up', async () => {
  const runs = new Runs();
  const { chat, say, submitting } = chatWith(runs);
  const [first, second] = await Promise.all([say('u1', 'Pay.'), say('u2', 'Thanks.')]);
  const runId = runIdOf(chat, 'u1');
  expect(first).toEqual({ runId, span: 'first' });
  expect(second).toEqual({ runId, span: { text: 'Thanks.', after: 4 } });
  expect(runs.started).toEqual([runId]);
  expect(runs.heard).toEqual(['Thanks.']);
  expect(await stoppable(submitting, chat)).toEqual([runId]);
});

test('a message that is sent again is not handed over again, also after the run that took it', async () => {
  const runs = new Runs();
  const { say } = chatWith(runs);
  const { runId } = await say('u1', 'Pay.');
  const at = await say('u2', 'Pay once more.');
  runs.end(runId);
  expect(await say('u2', 'Pay once more.')).toBe(at);
  expect(runs.heard).toHaveLength(1);
  // Another process knows the run that a message started.
  expect(await chatWith(runs).say('u1', 'Pay.')).toEqual({ runId, span: 'first' });
  expect(runs.started).toHaveLength(1);
});

test('a run that no worker has opened takes the next message, and can be stopped', async () => {
  const runs = new Runs();
  const { chat, say, submitting } = chatWith(runs);
  runs.startFails = true;
  await expect(say('u1', 'Pay.')).rejects.toThrow('Late.');
  const runId = runIdOf(chat, 'u1');
  expect(await stoppable(submitting, chat)).toEqual([runId]);
  expect(await say('u2', 'Thanks.')).toMatchObject({ runId });
  expect(runs.started).toEqual([runId]);
  runs.end(runId);
  expect(await stoppable(submitting, chat)).toEqual([]);
});

test('a run that closes just before it hears a message leaves it to a run of its own', async () => {
  const runs = new Runs();
  const { chat, say } = chatWith(runs);
  await say('u1', 'Pay.');
  runs.closesBeforeWords = true;
  expect(await say('u2', 'Thanks.')).toEqual({ runId: runIdOf(chat, 'u2'), span: 'first' });
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
  const words = (seq: number, text: string) => ({
    kind: 'event',
    event: { type: 'user_message', messageId: `r:m${seq}`, text: { text }, stamp: { seq } },
  });
  const end = (seq: number) => ({
    kind: 'event',
    event: {
      type: 'run_result',
      result: { status: 'completed', stopReason: 'completed' },
      stamp: { seq },
    },
  });

  async function tell(runs: Runs): Promise<{ chunks: readonly UiChunk[]; ending: Ending }> {
    const { chat } = chatWith(runs);
    const { signal } = new AbortController();
    const span = { text: 'Yes.', after: 4 };
    const telling = tellMessage({
      chat,
      runId: 'r',
      span,
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
