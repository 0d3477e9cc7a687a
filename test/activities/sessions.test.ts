/** Sessions between two runs: what close_run stores is what open_run finds. */
import type { CloseRunInput, OpenRunOutput } from '../../core/state/effect.js';
import type { SessionStart } from '../../core/state/session.js';
import { UNRECORDED } from '../../pure/session-repair.js';
import type { StoredBlock, TranscriptNode } from '../../core/state/transcript.js';
import { readTranscript } from '../../client/read/transcript.js';
import { attempt, failureFrom, startBed, type Bed } from './setup.js';

let bed: Bed;
beforeAll(async () => {
  bed = await startBed({ instructions: 'Be kind.' });
});
afterAll(() => bed.end());

let count = 0;
const newId = (): string => `run_${(count += 1)}`;

interface Opening {
  readonly runId?: string;
  readonly tenant?: string;
  readonly taskId?: string;
}

function open(session: SessionStart, opening: Opening = {}): Promise<OpenRunOutput> {
  const { runId = newId(), tenant = 'default', taskId } = opening;
  return attempt(bed.activities().open_run, {
    v: 1,
    run: { tenant, runId, traceId: 't' },
    segment: 0,
    start: {
      v: 1,
      agent: 'helper',
      task: { goal: 'Do it.', ...(taskId !== undefined && { taskId }) },
      session,
    },
    events: [],
  });
}

interface Leaving {
  readonly runId?: string;
  readonly base?: number;
  readonly said?: string;
  readonly carry?: Partial<NonNullable<CloseRunInput['session']>['carry']>;
}

async function leave(id: string, head: string, leaving: Leaving = {}) {
  const { runId = newId(), base = 0, said = 'Hello.', carry = {} } = leaving;
  return attempt(bed.activities().close_run, {
    v: 1,
    run: { tenant: 'default', runId, traceId: 't' },
    head,
    append: [{ kind: 'user', messageId: `${runId}:m0`, content: { text: said } }],
    session: {
      id,
      base,
      agent: 'helper',
      title: said,
      carry: { v: 1, taskId: 'task', step: 3, reactiveAttempts: 1, state: {}, ...carry },
    },
    events: [],
  });
}

async function stored(id: string, leaving: Leaving = {}) {
  const { head, session } = await open({ id });
  return leave(id, head!, { base: session!.base, ...leaving });
}

async function append(head: string, role: 'user' | 'assistant', ...blocks: StoredBlock[]) {
  const node: TranscriptNode = { v: 1, parent: head, role, messageId: `x${(count += 1)}`, blocks };
  return { head: await bed.store.putNode('default', node), messageId: node.messageId };
}

describe('a session', () => {
  test('goes on where the run before left it, without writing anything anew', async () => {
    const context = { knownTokens: 77, newBytes: 5 };
    const { head } = await stored('on', { carry: { context } });
    const opened = await open({ resume: 'on' });
    expect(opened).toMatchObject({
      head,
      session: {
        id: 'on',
        base: 1,
        kept: true,
        resumed: { sessionId: 'on', head, messages: 1 },
        carry: { step: 3, reactiveAttempts: 1, context },
      },
    });
    expect(opened.session?.remarks).toBeUndefined();
  });

  test('of another tenant looks like one that is missing', async () => {
    await stored('mine');
    const foreign = await failureFrom(open({ resume: 'mine' }, { tenant: 'other' }));
    const missing = await failureFrom(open({ resume: 'nobody' }, { tenant: 'other' }));
    expect(foreign.type).toBe('SessionNotFound');
    expect(foreign.message.replaceAll('mine', 'X')).toBe(missing.message.replaceAll('nobody', 'X'));
    expect(foreign.nonRetryable).toBe(true);
  });

  test('that two runs went on with is the first one’s; the other’s is kept beside it', async () => {
    await stored('two');
    const [one, other] = [await open({ resume: 'two' }), await open({ resume: 'two' })];
    const first = await leave('two', one.head!, { runId: 'first', base: 1, said: 'first' });
    const second = await leave('two', other.head!, { runId: 'second', base: 1, said: 'second' });
    expect(first.session).toEqual({ id: 'two', revision: 2 });
    expect(second.session).toEqual({ id: 'second', revision: 1 });
    const kept = await bed.store.getSession('default', 'second');
    expect(kept).toMatchObject({ forkedFrom: 'two', head: second.head });
    // A second delivery of the same activity changes nothing.
    const again = await leave('two', other.head!, { runId: 'second', base: 1, said: 'second' });
    expect(again).toEqual(second);
    expect(await bed.store.getSession('default', 'two')).toMatchObject({ head: first.head });
  });

  test('is begun again by a run that is reset, not with what it stored itself', async () => {
    await stored('reset');
    const first = await open({ resume: 'reset' }, { runId: 'again' });
    await leave('reset', first.head!, { runId: 'again', base: 1, said: 'more' });
    const afterReset = await open({ resume: 'reset' }, { runId: 'again' });
    expect(afterReset.head).toBe(first.head);
    expect(afterReset.session?.base).toBe(1);
    const saved = await leave('reset', first.head!, { runId: 'again', base: 1, said: 'other' });
    expect(saved.session).toEqual({ id: 'reset', revision: 2 });
  });

  test('does not begin under the id of one that is there', async () => {
    await stored('taken');
    expect((await failureFrom(open({ id: 'taken' }))).type).toBe('SessionExists');
  });

  test('moves under the root of an agent that has changed, with the bytes of all of it', async () => {
    const root = { v: 1, parent: null, role: 'root', messageId: 'root', blocks: [] } as const;
    const old = await bed.store.putNode('default', root);
    await leave('moved', old, { carry: { context: { knownTokens: 9, newBytes: 0 } } });
    const { head, session, frozen } = await open({ resume: 'moved' });
    const chain = await bed.store.readChain('default', head!);
    expect(chain.map((node) => node.messageId)).toEqual(['root', expect.stringMatching(/:m0$/)]);
    expect(chain[0]?.hash).toBe(frozen?.prompt.hash);
    expect(session?.carry?.context?.knownTokens).toBe(0);
    expect(session?.carry?.context?.newBytes).toBeGreaterThan(frozen!.prompt.bytes);
  });

  test('that broke off in a call is mended, and says what was added', async () => {
    const { head } = await open({ id: 'broken' });
    const use = { type: 'tool_use', id: 'c1', tool: 'look', args: {} } as const;
    const call = await append(head!, 'assistant', use);
    await leave('broken', call.head);
    const opened = await open({ resume: 'broken' });
    const chain = await bed.store.readChain('default', opened.head!);
    expect(chain.slice(1).map(({ blocks }) => blocks[0])).toMatchObject([
      { type: 'tool_use' },
      { type: 'tool_result', id: 'c1', text: UNRECORDED },
      { type: 'text', text: 'Hello.' },
    ]);
    expect(opened.session?.remarks).toEqual([
      { code: 'history_repaired', message: 'added a result for the call c1, which had none' },
    ]);
  });

  test('keeps large values by reference, whole', async () => {
    const text = 'x'.repeat(200);
    await stored('large', { carry: { state: { big: { text }, small: { text: 'y' } } } });
    const { session } = await open({ resume: 'large' });
    const { big, small } = session!.carry!.state;
    expect(small).toEqual({ text: 'y' });
    const ref = big as { $blob: string; bytes: number };
    expect(await bed.store.getText('default', { ...ref, preview: '' })).toBe(text);
  });
});

describe('a fork', () => {
  async function talk(id: string) {
    const { head } = await open({ id });
    const asked = await append(head!, 'user', { type: 'text', text: 'Look.' });
    const use = { type: 'tool_use', id: 'c1', tool: 'look', args: {} } as const;
    const called = await append(asked.head, 'assistant', use);
    const result = { type: 'tool_result', id: 'c1', isError: false, text: 'seen' } as const;
    const seen = await append(called.head, 'user', result);
    const state = { a: { text: 'later' } };
    const end = await leave(id, seen.head, { carry: { taskId: 'task', state } });
    return { asked, called, seen, end };
  }

  test('has an id of its own and leaves the old session alone', async () => {
    const { end } = await talk('whole');
    const { head, session } = await open({ resume: 'whole', fork: true }, { runId: 'own' });
    expect(head).toBe(end.head);
    expect(session).toMatchObject({ id: 'own', base: 0, resumed: { sessionId: 'whole' } });
    expect(session?.carry?.state).toEqual({ a: { text: 'later' } });
  });

  test('from a message takes what was said up to it, and a call with its results', async () => {
    const { asked, called, seen } = await talk('cut');
    expect((await open({ resume: 'cut', at: asked.messageId })).head).toBe(asked.head);
    const atCall = await open({ resume: 'cut', at: called.messageId });
    expect(atCall.head).toBe(seen.head);
    // Nothing that was written later is known to it.
    expect(atCall.session?.carry?.state).toEqual({});
    expect(atCall.session?.remarks).toMatchObject([{ code: 'state_not_forked' }]);
  });

  test('from a message that a summary replaced begins before the summary', async () => {
    const { asked, called, seen } = await talk('long');
    const { head: root } = await open({ id: 'long-root' });
    const summary = async (summarised: string) =>
      bed.store.putNode('default', {
        v: 1,
        parent: root!,
        role: 'user',
        messageId: `s${(count += 1)}`,
        blocks: [{ type: 'text', text: 'In short: seen.' }],
        flags: ['synthetic', 'compactSummary'],
        summarised,
      });
    const twice = await summary((await append(await summary(seen.head), 'assistant')).head);
    await leave('summed-up', twice, { carry: { state: { a: { text: 'later' } } } });
    const fork = await open({ resume: 'summed-up', at: asked.messageId });
    expect(fork.head).toBe(asked.head);
    expect(fork.session?.carry?.state).toEqual({});
    expect((await open({ resume: 'summed-up', at: called.messageId })).head).toBe(seen.head);
    const lost = await failureFrom(open({ resume: 'summed-up', at: 'nowhere' }));
    expect(lost.type).toBe('InvalidTask');
  });

  test('from a message that is not there is refused', async () => {
    await talk('lost');
    const failure = await failureFrom(open({ resume: 'lost', at: 'nowhere' }));
    expect(failure.type).toBe('InvalidTask');
  });

  test('cannot have the task id of what it is forked from, nor its own session’s id', async () => {
    await talk('keys');
    const sameTask = open({ resume: 'keys', fork: true }, { taskId: 'task' });
    expect((await failureFrom(sameTask)).message).toMatch(/task id of its own/);
    const sameId = open({ resume: 'keys', id: 'keys', fork: true });
    expect((await failureFrom(sameId)).type).toBe('InvalidTask');
  });
});

const nobody = async (): Promise<undefined> => undefined;

test('a transcript of a run that has ended is there even when it keeps no session', async () => {
  const { head } = await open({});
  const run = { tenant: 'default', runId: 'plain', traceId: 't' } as const;
  const stamp = { seq: 0, at: 5, phase: 'initializing', step: 0, turn: 0 } as const;
  await attempt(bed.activities().close_run, {
    v: 1,
    run,
    head: head!,
    append: [{ kind: 'user', messageId: 'plain:m0', content: { text: 'z'.repeat(9_000) } }],
    events: [{ type: 'warning', code: 'late_input', message: 'x', stamp }],
  });
  const { kind, messages } = await readTranscript(
    bed.store,
    { tenant: 'default', id: 'plain' },
    nobody,
  );
  expect(kind).toBe('run');
  expect(messages).toEqual([{ messageId: 'plain:m0', role: 'user', text: 'z'.repeat(9_000) }]);
  await expect(
    readTranscript(bed.store, { tenant: 'default', id: 'none' }, nobody),
  ).rejects.toMatchObject({
    code: 'SessionNotFound',
  });
});
