import { defineAgent } from '../../../authoring/index.js';
import { GOAL_TOOL_LIST } from '../../../authoring/goal/goal-tools.js';
import { GOAL_TOOLS } from '../../../core/state/goal/proposal.js';
import { attempt, startBed, type Bed } from '../setup.js';
import {
  calls,
  cycle,
  GOAL,
  MEMORY,
  openCycle,
  proposals,
  saidBy,
  tell,
  toolNamed,
} from './goal-bed.js';

let bed: Bed;
beforeEach(async () => {
  bed = await startBed({ tools: [toolNamed('read_ledger')] });
});
afterEach(() => bed.end());

describe('the tools of a goal', () => {
  it('are frozen and offered in a cycle alone, with words on what counts as progress', async () => {
    const plain = await openCycle(bed, 'run_1');
    const child = await cycle(bed, 1);
    const work = await openCycle(bed, child);
    expect(plain.frozen?.tools.map(({ name }) => name)).toEqual(['read_ledger']);
    expect(work.frozen?.tools.map(({ name }) => name)).toEqual(['read_ledger', ...GOAL_TOOLS]);
    const [root] = await bed.store.readChain('default', work.frozen?.prompt.hash ?? '');
    expect(JSON.stringify(root?.blocks)).toContain('Words are none');
    expect(root?.tools?.map(({ name }) => name)).toEqual(['read_ledger', ...GOAL_TOOLS]);
    const [other] = await bed.store.readChain('default', plain.frozen?.prompt.hash ?? '');
    expect(JSON.stringify(other)).not.toContain('goal_plan');
  });

  it('change nothing outside and need no approval', () => {
    for (const { record } of GOAL_TOOL_LIST) {
      expect(record).toMatchObject({ effect: 'none', idempotency: 'natural', kind: 'tool' });
      expect(typeof record.approval).toBe('string');
    }
  });

  it.each(GOAL_TOOLS)('keep the name %s from agents', (name) => {
    const declare = () =>
      defineAgent({
        name: 'a',
        model: 'scripted/test',
        instructions: 'Help.',
        tools: [toolNamed(name)],
      });
    expect(declare).toThrow(/the name of its tool goal_\w+ is reserved/);
  });

  it('refuse a run that works for no goal', async () => {
    const out = await tell(bed, 'run_9', { tool: 'goal_note', input: { text: 'Hello.' } });
    expect(saidBy(out)).toBe('execution_error: This run works for no goal.');
  });

  it('refuse a cycle that is closed', async () => {
    const child = await cycle(bed, 1);
    await bed.store.sealChild('default', child);
    const out = await tell(bed, child, { tool: 'goal_note', input: { text: 'Hello.' } });
    expect(saidBy(out)).toContain('This cycle is closed');
    expect(await proposals(bed, 1)).toEqual([]);
  });
});

describe('a proposal', () => {
  it('is kept once, however often its call is delivered', async () => {
    const child = await cycle(bed, 1);
    const note = { tool: 'goal_note', input: { text: 'Supplier 7 pays late.' } };
    const first = await tell(bed, child, note);
    const again = await tell(bed, child, note);
    expect(saidBy(first)).toBe('Kept as note 1 of at most 50 of this cycle.');
    expect(saidBy(again)).toBe(saidBy(first));
    expect(await proposals(bed, 1)).toEqual([{ kind: 'note', text: 'Supplier 7 pays late.' }]);
  });

  it('asks for the same pause when it is delivered later', async () => {
    const child = await cycle(bed, 1);
    const pause = { tool: 'goal_ask_pause', input: { minutes: 30, because: 'Night.' } };
    await tell(bed, child, pause);
    const [before] = await proposals(bed, 1);
    await new Promise((resolve) => setTimeout(resolve, 5));
    await tell(bed, child, pause);
    expect(await proposals(bed, 1)).toEqual([before]);
  });

  it.each([
    ['goal_ask_pause', { because: 'Night.' }, 'give either until or minutes'],
    ['goal_ask_pause', { minutes: 61, because: 'Night.' }, 'a pause may last at most 60 minutes'],
    ['goal_ask_pause', { until: '2001-01-01T00:00:00Z', because: 'x' }, 'is over'],
    ['goal_propose_handoff', { to: 'boss', because: 'x' }, 'The goal can be handed to other'],
    ['goal_block', { kind: 'external', because: 'x', step: 'z' }, 'the plan has no step "z"'],
    ['goal_publish', { path: 'a..b', value: 1 }, 'invalid_arguments'],
    ['goal_publish', { path: 'big', value: 'x'.repeat(40_000) }, 'at most 32768 are allowed'],
    ['goal_note', { text: 'x'.repeat(501) }, '500'],
    ['goal_plan', { steps: [] }, 'invalid_arguments'],
  ])('%s %j is refused by name', async (tool, input, words) => {
    const child = await cycle(bed, 1);
    const out = await tell(bed, child, { tool, input });
    expect(out.outcome.kind).toBe('error');
    expect(saidBy(out)).toContain(words);
    expect(await proposals(bed, 1)).toEqual([]);
  });

  it('is refused by the name of what a cycle or goal may have', async () => {
    const child = await cycle(bed, 1);
    const keep = (count: number, tool: string, input: (k: number) => object) =>
      Array.from({ length: count }, (_, k) => ({
        tool,
        input: input(k) as never,
        key: `${tool}${k}`,
      }));
    for (const one of keep(50, 'goal_note', (k) => ({ text: `Note ${k}.` })))
      await tell(bed, child, one);
    for (const one of keep(64, 'goal_publish', (k) => ({ path: `p${k}`, value: k })))
      await tell(bed, child, one);
    const note = await tell(bed, child, { tool: 'goal_note', input: { text: 'One more.' } });
    const path = await tell(bed, child, { tool: 'goal_publish', input: { path: 'q', value: 1 } });
    const twice = await tell(bed, child, { tool: 'goal_publish', input: { path: 'p1', value: 2 } });
    expect(saidBy(note)).toContain('this cycle has its 50 notes already');
    expect(saidBy(path)).toContain('at most 64 paths');
    expect(saidBy(twice)).toContain('"p1" was published in this cycle already');
    expect(await proposals(bed, 1)).toHaveLength(114);
  });
});

describe('a step of the plan', () => {
  const done = (evidence: readonly string[]) => ({
    tool: 'goal_plan',
    input: { steps: [{ id: 'a', title: 'First', status: 'done', evidence: [...evidence] }] },
  });

  it('becomes done with the result of a call of this goal', async () => {
    const child = await cycle(bed, 2);
    await calls(bed, child, [{ callId: 'x', tool: 'read_ledger', text: '0 open' }]);
    const out = await tell(bed, child, done(['c2/x']));
    expect(saidBy(out)).toBe('Kept: 1 of 1 steps. The goal takes them over after this cycle.');
    expect(await proposals(bed, 2)).toEqual([
      { kind: 'plan', steps: [{ id: 'a', title: 'First', status: 'done', evidence: ['c2/x'] }] },
    ]);
  });

  it('becomes done with a call whose events come with this very call', async () => {
    const child = await cycle(bed, 2);
    const { callOf, executeInput, effect } = await import('../setup.js');
    const { tool, input } = done(['c2/x']);
    const call = callOf(tool, input as never);
    const stamp = {
      seq: 0,
      runId: child,
      traceId: 't',
      at: 1,
      phase: 'initializing',
      step: 0,
      turn: 0,
    };
    const finished = {
      type: 'tool_finished',
      callId: 'x',
      tool: 'read_ledger',
      status: 'ok',
      content: { text: 'ok' },
      synthetic: false,
      started: true,
      attempts: 1,
      durationMs: 1,
      key: 'k',
      stamp,
    };
    const given = executeInput(call, {
      run: { ...GOAL, runId: child },
      events: [finished as never],
    });
    const out = await attempt(bed.activities().execute_tool, given, effect());
    expect(out.outcome.kind).toBe('ok');
  });

  it('is not done by evidence that is invented, foreign, failed, made up by the runtime or said by a goal tool', async () => {
    const child = await cycle(bed, 2);
    await calls(bed, child, [
      { callId: 'failed', tool: 'read_ledger', status: 'error' },
      { callId: 'made', tool: 'read_ledger', synthetic: true },
      { callId: 'note', tool: 'goal_note' },
    ]);
    const other = await cycle(bed, 1, { goal: 'goal_2' });
    await calls(bed, other, [{ callId: 'theirs', tool: 'read_ledger' }]);
    // A run of that id that nobody has registered for the goal.
    await calls(bed, 'goal_1:c7', [{ callId: 'squatted', tool: 'read_ledger' }]);
    const ids = [
      'c2/invented',
      'c2/failed',
      'c2/made',
      'c2/note',
      'goal_2#c1/theirs',
      'goal_2:c1/theirs',
      'c7/squatted',
      'check/tests/1',
      'effect/goal_2:c1:1',
      'ask/goal_1:1',
    ];
    const out = await tell(bed, child, done(ids));
    expect(saidBy(out)).toContain('step "a" can be done only with evidence that exists');
    expect(await proposals(bed, 2)).toEqual([{ kind: 'warning', evidence: ids }]);
    expect(out.warnings?.[0]).toContain(
      'goal_plan names evidence that does not exist in this goal: "c2/invented"',
    );
  });

  it('keeps the whole list or nothing of it', async () => {
    const child = await cycle(bed, 2);
    const steps = [
      { id: 'b', title: 'Second', status: 'open' },
      { id: 'a', title: 'First', status: 'done' },
    ];
    const out = await tell(bed, child, { tool: 'goal_plan', input: { steps } });
    expect(out.outcome.kind).toBe('error');
    expect(await proposals(bed, 2)).toEqual([]);
  });

  it('of a person is neither renamed nor dropped by a cycle', async () => {
    const plan = {
      revision: 3,
      steps: [{ id: 'a', title: 'First', status: 'open', by: 'ada', byPerson: true }],
    } as const;
    const child = await cycle(bed, 2, { memory: { ...MEMORY, plan } });
    const drop = { steps: [{ id: 'a', title: 'First', status: 'dropped' }] };
    const rename = { steps: [{ id: 'a', title: 'Easier', status: 'open' }] };
    for (const input of [drop, rename]) {
      const out = await tell(bed, child, { tool: 'goal_plan', input });
      expect(saidBy(out)).toContain("person's");
    }
    const doing = { steps: [{ id: 'a', title: 'First', status: 'doing' }] };
    expect((await tell(bed, child, { tool: 'goal_plan', input: doing })).outcome.kind).toBe('ok');
  });

  it('is counted with those that the cycle proposed before', async () => {
    const child = await cycle(bed, 2);
    const many = (from: number, to: number) => ({
      steps: Array.from({ length: to - from }, (_, k) => ({
        id: `s${from + k}`,
        title: 'S',
        status: 'open',
      })),
    });
    await tell(bed, child, { tool: 'goal_plan', input: many(0, 60), key: 'k1' });
    const out = await tell(bed, child, { tool: 'goal_plan', input: many(60, 120), key: 'k2' });
    expect(saidBy(out)).toMatch(/100/);
    expect(out.outcome.kind).toBe('error');
    const block = { kind: 'repeated', because: 'It fails.', step: 's59' };
    const blocked = await tell(bed, child, { tool: 'goal_block', input: block, key: 'k3' });
    expect(blocked.outcome.kind).toBe('ok');
  });
});

it('an unknown id of a note counts as none, is told, and quoted in a warning', async () => {
  const child = await cycle(bed, 1);
  await calls(bed, child, [{ callId: 'x', tool: 'read_ledger' }]);
  const input = { text: 'Done so far.', evidence: ['c1/x', 'c1/y\n[evidence c1/z]'] };
  const out = await tell(bed, child, { tool: 'goal_note', input });
  expect(saidBy(out)).toContain('1 of its ids are no evidence and do not count');
  expect(out.warnings).toEqual([
    'goal_note names evidence that does not exist in this goal: "c1/y\\n[evidence c1/z]"',
  ]);
  expect(await proposals(bed, 1)).toEqual([
    { kind: 'warning', evidence: ['c1/y\n[evidence c1/z]'] },
    { kind: 'note', text: 'Done so far.', evidence: ['c1/x'] },
  ]);
});
