import { ActivityCancellationDetails } from '@temporalio/common';
import { SUMMARY_REQUEST } from '../../core/context/compaction.js';
import type { CompactInput, CompactOutput } from '../../core/state/effect.js';
import type { StoredBlock, TranscriptNode } from '../../core/state/transcript.js';
import type { HashedNode } from '../../store/transcripts.js';
import type { ScriptedAnswer } from '../../providers/scripted/script.js';
import {
  attempt,
  effect,
  environmentOf,
  EXECUTION,
  failureFrom,
  openedHead,
  ROUTE,
  RUN,
  sessionEvent,
  startBed,
  type Bed,
} from './setup.js';

const SUMMARY: ScriptedAnswer = {
  text: 'The order was found.',
  usage: { input: 900, output: 20 },
};
const ALWAYS = Array.from({ length: 20 }, () => SUMMARY);

type Message = Pick<TranscriptNode, 'role' | 'blocks' | 'flags' | 'raw'>;

function says(role: 'user' | 'assistant', text: string, more: Partial<Message> = {}): Message {
  return { role, blocks: [{ type: 'text', text }], ...more };
}

function calls(...ids: readonly string[]): Message {
  const blocks = ids.map((id): StoredBlock => ({ type: 'tool_use', id, tool: 'x', args: {} }));
  return { role: 'assistant', blocks };
}

function results(text: string, ...ids: readonly string[]): Message {
  const blocks = ids.map((id): StoredBlock => ({ type: 'tool_result', id, isError: false, text }));
  return { role: 'user', blocks };
}

/** A reading turn with a result of this length. */
function turn(id: string, length = 400): readonly Message[] {
  return [calls(`${id}1`, `${id}2`), results(`${id}`.repeat(length), `${id}1`, `${id}2`)];
}

describe('compact', () => {
  let bed: Bed;
  let root: string;
  afterEach(() => bed.end());

  async function begin(replies: readonly ScriptedAnswer[] = ALWAYS): Promise<void> {
    bed = await startBed({ replies });
    root = await openedHead(bed);
  }

  /** Writes a conversation; message n has the id `run_1:m<n>`. */
  async function conversation(...messages: readonly Message[]): Promise<string> {
    let head = root;
    for (const [index, message] of messages.entries()) {
      const messageId = `${RUN.runId}:m${index}`;
      head = await bed.store.putNode('default', { v: 1, parent: head, messageId, ...message });
    }
    return head;
  }

  function inputAt(head: string, changes: Partial<CompactInput> = {}): CompactInput {
    return {
      v: 1,
      run: RUN,
      number: 1,
      head,
      append: [],
      messageId: 'run_1:m99',
      trigger: 'auto',
      route: ROUTE,
      preTokens: 10_000,
      keepTurns: 3,
      pinned: [],
      pinnedCharsMax: 1_000,
      maxTokens: 1_000,
      bound: { inputTokens: 11_000, costMicroUsd: 60_000 },
      left: { costMicroUsd: 1_000_000, inputTokens: null, outputTokens: null },
      maxRetries: { serverError: 3, other: 6 },
      events: [],
      ...changes,
    };
  }

  function run(input: CompactInput, info = effect()): Promise<CompactOutput> {
    return attempt(bed.activities().compact, input, info);
  }

  async function after(input: CompactInput): Promise<readonly HashedNode[]> {
    return bed.store.readChain('default', (await run(input)).head);
  }

  function lettersOf(nodes: readonly HashedNode[]): string {
    return nodes
      .slice(1)
      .map((node) => {
        if (node.flags?.includes('compactSummary')) return 'S';
        if (node.role === 'assistant') return 'A';
        return node.blocks.some((block) => block.type === 'tool_result') ? 'R' : 'U';
      })
      .join(' ');
  }

  function idsOf(nodes: readonly HashedNode[]): readonly string[] {
    return nodes.slice(1).map((node) => node.messageId.replace('run_1:', ''));
  }

  function lastBody(): { readonly messages: readonly { role: string; content: unknown }[] } {
    return JSON.parse(bed.model.requests().at(-1)?.body ?? '{}') as ReturnType<typeof lastBody>;
  }

  test('an objection that nobody has answered yet stays, the long reply that it is about does not', async () => {
    await begin();
    const head = await conversation(
      says('user', 'Find the order.'),
      ...turn('a'),
      says('assistant', 'A long answer. '.repeat(200)),
      says('user', 'Name the carrier.', { flags: ['synthetic'] }),
    );
    const nodes = await after(inputAt(head));
    expect(lettersOf(nodes)).toBe('U S U');
    expect(JSON.stringify(nodes.at(-1)?.blocks)).toContain('Name the carrier.');
  });

  test('puts a summary between the goal and the newest turns, under a head of its own', async () => {
    await begin();
    const head = await conversation(
      says('user', 'Find the order.'),
      says('user', 'Constraints: none.', { flags: ['synthetic'] }),
      ...['a', 'b', 'c', 'd', 'e', 'f'].flatMap((id) => turn(id)),
    );
    const output = await run(inputAt(head, { events: [sessionEvent()], keepTurns: 2 }));
    expect(output).toMatchObject({
      usage: { input: 900, output: 20 },
      lostCostMicroUsd: 0,
      eventsUpTo: 1,
    });
    const nodes = await bed.store.readChain('default', output.head);
    expect(lettersOf(nodes)).toBe('U U S A R A R');
    expect(idsOf(nodes)).toEqual(['m0', 'm1', 'm99', 'm10', 'm11', 'm12', 'm13']);
    expect(JSON.stringify(nodes[3]?.blocks)).toContain('The order was found.');
    expect(nodes[3]?.flags).toEqual(['synthetic', 'compactSummary']);
    expect(nodes[3]?.summarised).toBe(head);
    expect(nodes[0]?.hash).toBe(root);
    expect(await bed.store.readChain('default', head)).toHaveLength(15);
    expect(output.tokens).toBeGreaterThan(2_000);
    expect(output.tokens).toBeLessThan(5_000);
    expect(output.bytes).toBeGreaterThan(1_600);
  });

  test('asks about the conversation itself, so that what is cached of it stays cached', async () => {
    await begin();
    const head = await conversation(says('user', 'Goal.'), ...turn('a'), ...turn('b', 10));
    await run(inputAt(head));
    const { messages } = lastBody();
    expect(messages.map((message) => message.role)).toEqual(['user', 'assistant', 'user']);
    expect(JSON.stringify(messages[2])).toContain('tool_result');
    expect(JSON.stringify(messages[2])).toContain(JSON.stringify(SUMMARY_REQUEST).slice(1, 60));
    expect(JSON.stringify(messages)).not.toContain('bbbb');
  });

  test('appends what is pending first', async () => {
    await begin();
    const head = await conversation(says('user', 'Goal.'), ...turn('a', 2_000), calls('b'));
    const pending = {
      kind: 'results',
      messageId: 'run_1:m4',
      results: [{ callId: 'b', isError: false, content: { text: 'found' } }],
    } as const;
    const nodes = await after(inputAt(head, { append: [pending] }));
    expect(lettersOf(nodes)).toBe('U S A R');
    expect(JSON.stringify(nodes.at(-1)?.blocks)).toContain('found');
  });

  test.each([
    ['turns of tools', 'U S A R', [...turn('a', 900), ...turn('b', 900), ...turn('c', 100)]],
    ['a newest turn that is too large', 'U S', [...turn('a', 100), ...turn('b', 900)]],
    [
      'a question with its answer',
      'U S A U A',
      [
        ...turn('a', 900),
        says('assistant', 'Done.'),
        says('user', 'And?'),
        says('assistant', 'No.'),
      ],
    ],
    [
      'a question that nobody has answered, however long',
      'U S U',
      [...turn('a', 100), says('assistant', 'Done.'), says('user', 'why '.repeat(500))],
    ],
    [
      'a prompt of the runtime with the reply that it is about',
      'U S A U',
      [
        ...turn('a', 900),
        says('assistant', 'Part 1'),
        says('user', 'Go on.', { flags: ['synthetic'] }),
      ],
    ],
    [
      'a summary of before, which is summarised again',
      'U S A R',
      [
        says('user', 'Summary '.repeat(300), { flags: ['synthetic', 'compactSummary'] }),
        ...turn('b', 900),
        ...turn('c', 20),
      ],
    ],
  ] as const)('keeps turns whole: %s', async (_, letters, rest) => {
    await begin();
    const head = await conversation(says('user', 'Goal.'), ...rest);
    const nodes = await after(inputAt(head));
    expect(lettersOf(nodes)).toBe(letters);
    expect(unpaired(nodes)).toEqual([]);
    expect(unpaired(nodes, lastBody())).toEqual([]);
  });

  test('does not part an answer from its question', async () => {
    await begin();
    const head = await conversation(
      says('user', 'Goal.'),
      ...turn('a', 900),
      says('assistant', 'Done.'),
      says('user', 'And?'),
      says('assistant', 'No.'),
    );
    expect(lettersOf(await after(inputAt(head, { keepTurns: 1 })))).toBe('U S U A');
  });

  test('goes on without a reply that will be asked for again', async () => {
    await begin();
    const head = await conversation(
      says('user', 'Goal.'),
      ...turn('a', 900),
      ...turn('b', 20),
      says('assistant', 'Half of it'),
    );
    const nodes = await after(inputAt(head, { dropped: 'run_1:m5' }));
    expect(lettersOf(nodes)).toBe('U S A R');
  });

  test('says whether the answer that was cut off still stands in the conversation', async () => {
    await begin();
    const head = await conversation(
      says('user', 'Goal.'),
      ...turn('a', 900),
      says('assistant', 'First part.'),
      says('user', 'Go on.', { flags: ['synthetic'] }),
      says('assistant', 'Half of it'),
    );
    const cut = { dropped: 'run_1:m5', answerFrom: 'run_1:m3' };
    expect((await run(inputAt(head, cut))).answerKept).toBe(true);
    expect((await run(inputAt(head, { ...cut, keepTurns: 0, number: 2 }))).answerKept).toBe(
      undefined,
    );
  });

  test('says pinned evidence word for word, also what lies in the store', async () => {
    await begin();
    const head = await conversation(says('user', 'Goal.'), ...turn('a'));
    const stored = await bed.store.putText('default', 'z'.repeat(9_000));
    const nodes = await after(
      inputAt(head, {
        pinned: ['What read returned:\npaid 42.17'],
        pinnedRefs: [{ label: 'What list returned:', content: stored }],
      }),
    );
    const texts = nodes[2]?.blocks.map((block) => ('text' in block ? block.text : ''));
    expect(texts?.[1]).toBe('What read returned:\npaid 42.17');
    expect(texts?.[2]).toBe(
      `What list returned:\n${'z'.repeat(1_000)}\n[truncated: 1000 of 9000 characters shown]`,
    );
  });

  test('leaves the oldest turns out when the model cannot read them all', async () => {
    await begin();
    const head = await conversation(
      says('user', 'Goal.'),
      ...turn('a', 2_000),
      ...turn('b', 2_000),
      ...turn('c', 10),
    );
    const route = { ...ROUTE, contextWindow: 8_000 };
    const nodes = await after(inputAt(head, { route }));
    expect(JSON.stringify(lastBody())).not.toContain('aaaa');
    expect(JSON.stringify(lastBody())).toContain('bbbb');
    expect(JSON.stringify(nodes[2]?.blocks)).toContain('The oldest 2 messages are not in it.');
  });

  test.each([
    ['only a goal', [says('user', 'Goal.')]],
    ['only a question after it', [says('user', 'Goal.'), says('user', 'Well?')]],
  ] as const)('refuses a conversation with %s, free of charge', async (_, messages) => {
    await begin();
    const head = await conversation(...messages);
    const failure = await failureFrom(run(inputAt(head, { events: [sessionEvent()] })));
    expect(failure).toMatchObject({ type: 'InvalidRequest', nonRetryable: true });
    expect(failure.details?.[0]).toMatchObject({ lostCostMicroUsd: 0 });
    expect(bed.model.requests()).toHaveLength(0);
    const { events } = await bed.store.readEvents(RUN, { sinceSeq: 0, limit: 10 });
    expect(events).toHaveLength(1);
  });

  test('a finished summary is never paid for twice', async () => {
    await begin();
    const head = await conversation(says('user', 'Goal.'), ...turn('a'));
    const info = effect();
    const first = await run(inputAt(head), info);
    expect(await run(inputAt(head), info)).toEqual(first);
    // After a reset the same effect has another execution.
    expect((await run(inputAt(head))).head).toBe(first.head);
    expect(bed.model.requests()).toHaveLength(1);
    const rows = await bed.store.listAttempts(
      'default',
      RUN.runId,
      `${info.activityId}@${EXECUTION}`,
    );
    expect(rows).toMatchObject([{ kind: 'compaction', end: { outcome: 'ok' } }]);
  });

  test('failed attempts count with the summary that follows them', async () => {
    await begin([SUMMARY, [{ status: 500 }, SUMMARY]]);
    const head = await conversation(says('user', 'Goal.'), ...turn('a'));
    const info = effect();
    const failure = await failureFrom(run(inputAt(head), info));
    expect(failure).toMatchObject({ type: 'ServerError', nonRetryable: false });
    await run(inputAt(head), info);
    expect(bed.model.requests()).toHaveLength(2);
  });

  test('no request leaves that does not fit what is left', async () => {
    await begin();
    const head = await conversation(says('user', 'Goal.'), ...turn('a'));
    const left = { costMicroUsd: 59_999, inputTokens: null, outputTokens: null };
    const failure = await failureFrom(run(inputAt(head, { left })));
    expect(failure).toMatchObject({ type: 'BudgetExhausted', nonRetryable: true });
    expect(failure.details?.[0]).toMatchObject({ budget: 'max_cost', lostCostMicroUsd: 0 });
    expect(bed.model.requests()).toHaveLength(0);
  });

  test('a reply without a summary fails for good, and was paid for', async () => {
    const silent: ScriptedAnswer = {
      calls: [{ id: 'c', tool: 'x', input: {} }],
      usage: { input: 1_000_000, output: 0 },
    };
    await begin(Array.from({ length: 20 }, () => silent));
    const head = await conversation(says('user', 'Goal.'), ...turn('a'));
    const info = effect();
    const failure = await failureFrom(run(inputAt(head), info));
    expect(failure).toMatchObject({ type: 'MalformedReply', nonRetryable: true });
    expect(failure.details?.[0]).toMatchObject({ lostCostMicroUsd: 3_000_015 });
    await failureFrom(run(inputAt(head), info));
    expect(bed.model.requests()).toHaveLength(1);
  });

  test('a person who stops the run stops the summary, which is no summary then', async () => {
    await begin();
    const head = await conversation(says('user', 'Goal.'), ...turn('a'));
    const environment = environmentOf(effect());
    environment.cancel('CANCELLED', new ActivityCancellationDetails({ cancelRequested: true }));
    const { compact } = bed.activities();
    const failure = await failureFrom(
      environment.run<[CompactInput], CompactOutput, typeof compact>(compact, inputAt(head)),
    );
    expect(failure).toMatchObject({ type: 'Aborted', nonRetryable: true });
    expect(failure.details?.[0]).toMatchObject({ lostCostMicroUsd: 0 });
    expect(bed.model.requests()).toHaveLength(0);
  });
});

/** Calls without a result right after them, and results without their call. */
function unpaired(
  nodes: readonly HashedNode[],
  body?: { readonly messages: readonly { readonly content: unknown }[] },
): readonly string[] {
  const lists =
    body === undefined ? nodes.map((node) => node.blocks) : body.messages.map((m) => m.content);
  const wrong: string[] = [];
  let open: readonly string[] = [];
  for (const list of lists) {
    const blocks = list as readonly { type: string; id?: string; tool_use_id?: string }[];
    const answered = blocks
      .filter((block) => block.type === 'tool_result')
      .map((block) => block.tool_use_id ?? block.id ?? '');
    if (answered.join() !== open.join()) wrong.push(`${open.join()} / ${answered.join()}`);
    open = blocks.filter((block) => block.type === 'tool_use').map((block) => block.id ?? '');
  }
  return open.length > 0 ? [...wrong, open.join()] : wrong;
}
