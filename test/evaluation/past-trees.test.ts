/** Recorded trees of runs with a new model at their root: each run below says what it said, and people answer whoever asks. */
import type { Observation } from '../../evaluation/engine.js';
import { outcomeOf } from '../../evaluation/past/outcome.js';
import { linesOfRun } from '../../evaluation/past/report.js';
import { NEW, playedLive } from './live-play.js';

const agent = (id: string, prompt: string, name = 'r') => ({
  id,
  tool: 'agent',
  input: { name, prompt },
});
const calls = (...all: readonly object[]) => ({ calls: all });
const DONE = { text: 'Done.' };

/** Every run says what its place says; tools answer the run that the record names. */
const AGENT = { instructions: 'Help.', tools: ['read_order', 'issue_refund'] };
const answer = (input: object, ok: unknown, run?: string) => ({
  input,
  ...(run !== undefined && { run }),
  results: [{ ok }],
});

function tree(parts: object) {
  return { agents: { r: AGENT }, subAgents: ['r'], ...parts };
}

/** What calls of the root were answered, by call. */
function answersIn({ events }: Observation): { readonly [call: string]: string } {
  return Object.fromEntries(
    events.flatMap((event) =>
      event.type === 'tool_finished' ? [[event.callId, JSON.stringify(event.content)]] : [],
    ),
  );
}

const endOf = ({ result }: Observation) => result?.stopReason;

test('in a tree of two generations each run is answered from its own record', async () => {
  const { was, now, unmatched, asked } = await playedLive({
    agents: {
      lead: { instructions: 'Lead.', tools: [], subAgents: ['hand'] },
      hand: AGENT,
    },
    subAgents: ['lead'],
    tools: {
      read_order: { effect: 'read', recorded: [answer({ orderId: '7' }, 'seven', 'a1:a1')] },
    },
    model: [calls(agent('a', 'Do your part.', 'lead')), DONE],
    runs: {
      a1: { model: [calls(agent('b', 'Do yours.', 'hand')), { text: 'The hand has read.' }] },
      'a1:a1': {
        model: [calls({ id: 'r', tool: 'read_order', input: { orderId: '7' } }), { text: 'Read.' }],
      },
    },
  });
  expect(unmatched).toEqual([]);
  expect([endOf(was), endOf(now)]).toEqual(['completed', 'completed']);
  expect(now.effects).toEqual(was.effects);
  expect(answersIn(now)).toEqual(answersIn(was));
  expect(asked).toHaveLength(2);
});

const REFUND = { order: '1', amount: 5 };
const ASKING = tree({
  tools: {
    issue_refund: {
      effect: 'write',
      approval: 'always',
      recorded: [answer(REFUND, 'paid', 'a1')],
    },
  },
  model: [calls(agent('a', 'Pay order 1.')), DONE],
  runs: {
    a1: {
      model: [calls({ id: 'x', tool: 'issue_refund', input: REFUND }), { text: 'Paid.' }],
    },
  },
  during: [
    {
      on: { event: 'approval_requested', call: 'x', run: 'a1' },
      do: { resolveApproval: { call: 'x', run: 'a1', decision: 'approve', by: 'bob' } },
    },
  ],
});

test('people answer a sub-agent what they answered it then', async () => {
  const { was, now, unmatched } = await playedLive(ASKING);
  expect(unmatched).toEqual([]);
  expect([was.effects, now.effects]).toEqual([{ issue_refund: 1 }, { issue_refund: 1 }]);
  expect(endOf(now)).toBe('completed');
});

test('a decision in one run is none in another: the root that asks the same has no answer', async () => {
  const replies = [calls({ id: 'x', tool: 'issue_refund', input: REFUND }), DONE];
  const { now, unmatched } = await playedLive(ASKING, { replies: replies as never });
  expect(unmatched).toEqual([{ kind: 'question', tool: 'issue_refund', about: 'approval' }]);
  expect([endOf(now), now.effects]).toEqual(['aborted', {}]);
});

const TWO = tree({
  tools: {
    read_order: {
      effect: 'read',
      recorded: [
        answer({ orderId: '?' }, 'of the first', 'a1'),
        answer({ orderId: '?' }, 'of the second', 'a2'),
      ],
    },
  },
  model: [calls(agent('a', 'First.')), calls(agent('b', 'Second.')), DONE],
  runs: {
    a1: {
      model: [calls({ id: 'r', tool: 'read_order', input: { orderId: '?' } }), { text: 'One.' }],
    },
    a2: {
      model: [calls({ id: 'r', tool: 'read_order', input: { orderId: '?' } }), { text: 'Two.' }],
    },
  },
});

test.each([
  ['one after the other', [calls(agent('a', 'Second.')), calls(agent('b', 'First.')), DONE]],
  ['in one reply', [calls(agent('a', 'Second.'), agent('b', 'First.')), DONE]],
])(
  'a sub-agent says what was said to its task, whichever is started first: %s',
  async (_, said) => {
    const { now, unmatched } = await playedLive(TWO, { replies: said as never });
    expect(unmatched).toEqual([]);
    expect(answersIn(now)).toEqual({
      a: expect.stringContaining('Two.'),
      b: expect.stringContaining('One.'),
    });
    const read = now.others!.map(({ events }) => answersIn({ events } as Observation)['r']);
    expect(read).toEqual([
      expect.stringContaining('of the second'),
      expect.stringContaining('of the first'),
    ]);
  },
);

test('a task that was given once and is given twice is told, and ends the run', async () => {
  const replies = [calls(agent('a', 'First.')), calls(agent('b', 'First.')), DONE];
  const { now, unmatched } = await playedLive(TWO, { replies: replies as never });
  expect(unmatched).toEqual([
    { kind: 'call', tool: 'agent', input: { name: 'r', prompt: 'First.' } },
  ]);
  expect(endOf(now)).toBe('aborted');
});

test('a sub-agent with the model that is asked in earnest says what it said', async () => {
  const agents = { r: { ...AGENT, settings: { model: NEW } } };
  const { now, unmatched, asked } = await playedLive({ ...TWO, agents });
  expect([unmatched, endOf(now)]).toEqual([[], 'completed']);
  expect(asked.map(({ metadata }) => metadata?.runId)).toEqual(['c1', 'c1', 'c1']);
});

test('--at counts the requests of the root alone', async () => {
  const agents = { r: { ...AGENT, settings: { model: NEW } } };
  const replies = [calls(agent('b', 'Second.')), DONE];
  const changes = { replies: replies as never, scriptedCalls: 1 };
  const { now, unmatched, asked } = await playedLive({ ...TWO, agents }, changes);
  expect([unmatched, endOf(now)]).toEqual([[], 'completed']);
  expect(asked.map(({ metadata }) => metadata?.call)).toEqual([2, 3]);
});

describe('a task that its event leaves out, because all tasks of its reply are too long', () => {
  const long = (letter: string) => letter.repeat(1_900);
  const reply = (last: string) =>
    calls(...['v', 'w', 'x', 'y', last].map((letter, n) => agent(`${n}`, long(letter))));
  const said = { model: [{ text: 'Read it.' }] };
  const LONG = tree({
    tools: {},
    model: [reply('z'), DONE],
    runs: { a1: said, a2: said, a3: said, a4: said, a5: said },
  });

  test('is known by its digest', async () => {
    const { was, now, unmatched } = await playedLive(LONG);
    const events = JSON.stringify(was.events.filter(({ type }) => type === 'model_response'));
    expect(events).toContain('"id":"4","tool":"agent","args":{"$omitted":');
    expect([unmatched, endOf(now)]).toEqual([[], 'completed']);
  });

  test('is no other one of the same length', async () => {
    const { now, unmatched } = await playedLive(LONG, { replies: [reply('Z'), DONE] as never });
    expect(unmatched).toMatchObject([{ kind: 'call', tool: 'agent', input: { name: 'r' } }]);
    expect(JSON.stringify(unmatched)).toContain('ZZZ');
    expect([endOf(now), now.others]).toEqual(['aborted', []]);
  });
});

test('a run that would say more than it said is told, and ends the tree', async () => {
  const cut = { model: [calls({ id: 'r', tool: 'read_order', input: { orderId: '?' } })] };
  const played = await playedLive({ ...TWO, runs: { a1: cut, a2: cut } });
  const { now, unmatched } = played;
  expect(linesOfRun(outcomeOf('c1', played))).toContain(
    'never recorded of a1: another reply of its model',
  );
  expect(unmatched).toEqual([{ kind: 'reply', run: 'a1' }]);
  expect(endOf(now)).toBe('aborted');
});

test('a correction is one word on two questions: what was made of the call is not asked about again', async () => {
  const { was, now, unmatched } = await playedLive({
    ...ASKING,
    during: [
      {
        on: { event: 'approval_requested', call: 'x', run: 'a1' },
        do: {
          resolveApproval: {
            call: 'x',
            run: 'a1',
            decision: 'modify',
            args: { order: '1', amount: 4 },
            by: 'bob',
          },
        },
      },
    ],
    tools: {
      issue_refund: {
        effect: 'write',
        approval: 'always',
        recorded: [answer({ order: '1', amount: 4 }, 'paid less', 'a1')],
      },
    },
  });
  expect([unmatched, endOf(now)]).toEqual([[], 'completed']);
  expect([was.effects, now.effects]).toEqual([{ issue_refund: 1 }, { issue_refund: 1 }]);
});

test('a question that nobody answered in time is left alone again', async () => {
  const tools = {
    issue_refund: { effect: 'write', approval: { expiresInMs: 1_000 }, recorded: [] },
  };
  const { was, now, unmatched } = await playedLive({ ...ASKING, tools, during: [] });
  expect(unmatched).toEqual([]);
  expect([endOf(was), endOf(now), now.effects]).toEqual(['completed', 'completed', {}]);
});

test('two questions about one call have an answer each: whether it may run, and whether it happened', async () => {
  const asked = (event: string, decision: string) => ({
    on: { event, call: 'x', run: 'a1' },
    do: { resolveApproval: { call: 'x', run: 'a1', decision, by: 'bob' } },
  });
  const lost = { input: REFUND, run: 'a1', results: [{ lost: 'after' }] };
  const { was, now, unmatched } = await playedLive({
    ...ASKING,
    tools: { issue_refund: { effect: 'write', approval: 'always', recorded: [lost] } },
    during: [asked('approval_requested', 'approve'), asked('input_request', 'happened')],
  });
  expect(was.others![0]!.events).toContainEqual(expect.objectContaining({ kind: 'outcome' }));
  expect([unmatched, endOf(now)]).toEqual([[], 'completed']);
  expect(answersIn(now)).toEqual(answersIn(was));
});

test('of two questions about one call each has its own answer, although another person gives it', async () => {
  const less = { order: '1', amount: 4 };
  const word = (more: object) => ({ resolveApproval: { call: 'x', run: 'a1', ...more } });
  const asked = { event: 'approval_requested', call: 'x', run: 'a1' };
  const { was, now, unmatched } = await playedLive({
    ...ASKING,
    tools: {
      issue_refund: {
        effect: 'write',
        approval: { quorum: 2 },
        recorded: [answer(less, 'paid less', 'a1')],
      },
    },
    during: [
      { on: asked, do: word({ decision: 'modify', args: less, by: 'bob' }) },
      { on: { ...asked, n: 2 }, do: word({ decision: 'approve', by: 'eve' }) },
    ],
  });
  expect(was.effects).toEqual({ issue_refund: 1 });
  expect([unmatched, endOf(now), now.effects]).toEqual([[], 'completed', was.effects]);
});

test('a call that started nobody then, for want of money, and would start somebody now, is told and ends the run', async () => {
  const { was, now, unmatched } = await playedLive({
    ...tree({ tools: {}, model: [calls(agent('a', 'First.')), DONE] }),
    agents: { r: { ...AGENT, tools: [], budget: { maxCostMicroUsd: 12_000 } } },
    runs: { a9: { model: [{ text: 'Nobody was started.' }] } },
    budget: { maxCostMicroUsd: 16_000 },
  });
  expect([endOf(was), was.others]).toEqual(['completed', []]);
  expect(unmatched).toEqual([
    { kind: 'call', tool: 'agent', input: { name: 'r', prompt: 'First.' } },
  ]);
  expect(endOf(now)).toBe('aborted');
});

test('the figures of a report are those of the whole tree', async () => {
  const { was, now, same_effects } = outcomeOf('c1', await playedLive(TWO));
  // Two sub-agents, each with a call of its own and two requests; the root has three.
  expect(was).toMatchObject({ calls: 4, turns: 7, breaches: 0 });
  expect([now.calls, now.turns, same_effects]).toEqual([4, 7, true]);
});
