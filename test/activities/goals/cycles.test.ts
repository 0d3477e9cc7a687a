/** A goal's activities in their order: opened, a cycle prepared and closed, a checkpoint, another goal that goes on. */
import type { OpenGoalOutput, PrepareCycleOutput } from '../../../core/state/goal/payloads.js';
import type { RunEvent } from '../../../core/state/event.js';
import { RESULT } from '../../store/fixtures.js';
import { childOutcome } from '../../../activities/goal/child-outcome.js';
import type { Scope } from '../../../activities/scope.js';
import { attempt, failureFrom, startBed, type Bed } from '../setup.js';
import { calls, GOAL, proposals, toolNamed } from './goal-bed.js';

let bed: Bed;
beforeEach(async () => {
  bed = await startBed({
    tools: [toolNamed('open_invoices'), toolNamed('send', () => 'sent', 'send')],
  });
});
afterEach(() => bed.end());

const OF = { v: 1, run: GOAL, events: [] } as const;
const DEFINITION = {
  objective: 'All invoices of March are matched.',
  agent: 'helper',
  done: { all: [{ check: 'open_invoices', path: 'count', equals: 0 }] },
  validation: [{ name: 'open_invoices', measure: { path: 'count', better: 'lower' } }],
  budget: { maxCostMicroUsd: 2_000_000 },
} as const;

function opening(changes: object = {}, start: object = {}) {
  const goal = { ...DEFINITION, ...changes } as never;
  return attempt(bed.activities().open_goal, {
    ...OF,
    segment: 0,
    start: { v: 1, goal, ...start },
  });
}

async function opened(): Promise<Required<Pick<OpenGoalOutput, 'terms' | 'memory'>>> {
  const { terms, memory } = await opening();
  return { terms: terms!, memory: memory! };
}

const SLICE = {
  maxCostMicroUsd: 200_000,
  maxModelCalls: 'unlimited',
  maxToolCalls: 50,
  maxInputTokens: 'unlimited',
  maxOutputTokens: 'unlimited',
} as const;

async function prepared(changes: object = {}): Promise<PrepareCycleOutput> {
  const { terms, memory } = await opened();
  return attempt(bed.activities().prepare_cycle, {
    ...OF,
    definition: terms.definition,
    memory,
    n: 1,
    child: 'goal_1:c1',
    agent: 'helper',
    slice: SLICE,
    briefTokens: 8_000,
    reads: [{ id: 'm1', text: { text: 'Oldest first.' }, by: 'mia', proven: true }],
    feedback: ['Not so fast.'],
    checks: {},
    register: true,
    unservedMs: 1_000,
    ...changes,
  });
}

const CHILD = { ...GOAL, runId: 'goal_1:c1' };

function openChild(start: unknown, run: typeof GOAL | typeof CHILD = CHILD) {
  return attempt(bed.activities().open_run, {
    v: 1,
    run,
    segment: 0,
    start: start as never,
    events: [],
  });
}

async function closed(changes: object = {}) {
  const { terms, memory } = await opened();
  return attempt(bed.activities().close_cycle, {
    ...OF,
    definition: terms.definition,
    memory,
    n: 1,
    child: CHILD.runId,
    agent: 'helper',
    holdPlan: false,
    handoffTo: [],
    maxAskedPauseMs: 1_000,
    last: false,
    slice: SLICE,
    ...changes,
  });
}

async function ends(seq: number, counters: object = {}): Promise<void> {
  const stamp = { seq, runId: CHILD.runId, traceId: 'trace', at: 9 };
  const event = {
    type: 'run_result',
    result: { ...RESULT, runId: CHILD.runId, counters: { ...RESULT.counters, ...counters } },
    stamp: { ...stamp, phase: 'finishing', step: 1, turn: 1 },
  } as RunEvent;
  await bed.store.appendEvents({ tenant: GOAL.tenant, runId: CHILD.runId, execution: 'exec-c' }, [
    event,
  ]);
}

describe('open_goal', () => {
  test('fixes terms, the tools of checks and an empty memory, the same each time', async () => {
    const first = await opening();
    expect(await opening()).toEqual(first);
    expect(first).toMatchObject({
      plan: { revision: 0, steps: 0 },
      stateHeld: [],
      terms: {
        agent: 'helper',
        checks: [{ name: 'open_invoices', tool: 'open_invoices', better: 'lower' }],
        cycle: { maxCostMicroUsd: 200_000, minCostMicroUsd: 20_000 },
      },
    });
    const text = await bed.store.getBlob(GOAL.tenant, first.terms!.definition);
    expect(JSON.parse(text ?? '')).toMatchObject({
      validation: [{ frozen: { name: 'open_invoices', version: '1', effect: 'read' } }],
    });
  });

  test.each([
    [{ objective: ' ' }, 'objective'],
    [{ validation: [{ name: 'open_invoices', tool: 'none' }] }, 'validation.0.tool'],
    [{ validation: [{ name: 'open_invoices', tool: 'send' }] }, 'validation.0.tool'],
    [{ cycle: { maxCostMicroUsd: 500 }, minCycleMicroUsd: 1 }, 'cycle.maxCostMicroUsd'],
    [{ cycle: { onBudget: 'ask' } }, 'cycle.onBudget'],
    [{ judges: { strict: { model: 'nobody/nothing' } } }, 'judges.strict.model'],
    [{ judges: { strict: {} }, roundMicroUsd: 1_000 }, 'roundMicroUsd'],
    [{ reviewer: { roles: ['lead'] }, roundMicroUsd: 1_000 }, 'roundMicroUsd'],
  ])('refuses %j by its field', async (changes, field) => {
    const failure = await failureFrom(opening(changes));
    expect(failure).toMatchObject({ type: 'InvalidTask', nonRetryable: true });
    expect(failure.message).toContain(field);
  });

  test('waits for a worker that has the agent', async () => {
    expect(await failureFrom(opening({ agent: 'other' }))).toMatchObject({
      type: 'NotServed',
      nonRetryable: false,
    });
  });
});

describe('take_message', () => {
  test('keeps long words of a person in the store, never in the goal', async () => {
    const { terms, memory } = await opened();
    const text = `${'Begin with the oldest. '.repeat(20)}The end.`;
    const taken = await attempt(bed.activities().take_message, {
      ...OF,
      definition: terms.definition,
      memory,
      message: { v: 1, id: 'm1', type: 'steer', text, at: 5, by: 'mia', roles: [] },
    });
    expect(taken.text).toMatchObject({ $blob: expect.any(String), preview: text.slice(0, 100) });
    expect(await bed.store.getText(GOAL.tenant, taken.text!)).toBe(text);
  });
});

describe('the run of a cycle', () => {
  test('opens with the task of its row, and its context as data behind it', async () => {
    const { start, brief } = await prepared();
    expect(start.task.goal).toContain('All invoices');
    expect(start.parent).toEqual({ kind: 'goal', id: 'goal_1', n: 1, digest: brief.digest });
    const { goal, context = [] } = await openChild(start);
    expect(goal).toEqual({
      text: 'All invoices of March are matched.\n\nmia (proven) says:\nOldest first.',
    });
    const texts = await Promise.all(context.map((text) => bed.store.getText('default', text)));
    expect(texts.join('\n')).toContain('Not so fast.');
    expect(texts.join('\n')).not.toContain('Oldest first.');
  });

  test('is refused with another start, another id, or when nobody registered it', async () => {
    const { start } = await prepared();
    const other = [
      openChild({ ...start, budget: { maxCostMicroUsd: 'unlimited' } }),
      openChild({ ...start, parent: { ...start.parent!, digest: 'x' } }),
      openChild({ ...start, parent: { ...start.parent!, n: 2 } }),
      openChild({ v: 1, agent: 'helper', task: { goal: 'Mine.' } }),
      openChild(start, GOAL),
    ];
    for (const one of other) {
      const failure = await failureFrom(one);
      expect(failure).toMatchObject({
        type: 'InvalidTask',
        details: [{ detail: 'child_id_taken' }],
      });
    }
    await bed.store.sealChild(GOAL.tenant, CHILD.runId);
    expect((await failureFrom(openChild(start))).message).toContain('has ended');
  });

  test('that began before a reset is read with the brief that it had', async () => {
    const first = await prepared();
    await calls(bed, CHILD.runId, [{ callId: 'a', tool: 'open_invoices' }]);
    const again = await prepared({ feedback: [] });
    expect(again).toMatchObject({ begun: true, brief: first.brief, start: first.start });
  });

  test('is registered with the brief that was approved, while memory and words are the same', async () => {
    const shown = await prepared({ register: false, briefTokens: 8_000 });
    const { digest: approved } = shown.brief;
    const other = await prepared({ register: false, feedback: ['Another one.'] });
    expect(other.brief.digest).not.toBe(approved);
    const given = await prepared({ approved, feedback: ['Another one.'] });
    expect(given).toMatchObject({ brief: { digest: approved }, start: shown.start });
    const reads = [{ id: 'new', text: { text: 'new' }, by: 'ann', proven: false }];
    const changed = await prepared({ approved, reads });
    expect(changed.brief.digest).not.toBe(approved);
  });

  test('that began before a reset is told by the places of the words that its brief never had', async () => {
    const word = (id: string) => ({ id, text: { text: id }, by: 'ann', proven: false });
    await prepared({ reads: [word('old')] });
    await calls(bed, CHILD.runId, [{ callId: 'a', tool: 'open_invoices' }]);
    const again = await prepared({ reads: [word('old'), word('new')] });
    expect(again).toMatchObject({ begun: true, unheard: [1] });
  });
});

describe('close_cycle', () => {
  test('says nothing while the child goes on', async () => {
    await prepared();
    expect(await closed()).toEqual({ eventsUpTo: 0 });
  });

  test('gives the outcome, what was proposed, and what is evidence', async () => {
    await prepared();
    const { runId } = CHILD;
    await calls(bed, runId, [
      { callId: 'a', tool: 'open_invoices' },
      { callId: 'b', tool: 'open_invoices', status: 'error' },
    ]);
    const place = { tenant: GOAL.tenant, goal: GOAL.runId, cycle: 1 };
    const publish = { kind: 'publish', path: 'matched', value: 5 } as const;
    const note = { kind: 'note', text: 'Five are matched.', evidence: ['c1/a', 'c1/b'] } as const;
    await bed.store.putProposal({ ...place, key: 'k1', proposal: publish });
    await bed.store.putProposal({ ...place, key: 'k2', proposal: note });
    expect(await proposals(bed, 1)).toHaveLength(2);
    await ends(4);
    const output = await closed();
    expect(output).toMatchObject({
      outcome: { stopReason: 'max_cost', costMicroUsd: 4_200, replied: true, doubt: 0 },
      progress: [{ kind: 'state', id: 'matched' }],
      evidenceCount: 1,
      warnings: [expect.stringContaining('c1/b')],
    });
    expect(await closed()).toEqual(output);
    expect(await bed.store.childRow(GOAL.tenant, runId)).toMatchObject({ state: 'sealed' });
  });

  test.each([
    [{ modelCalls: 0, turnCount: 0 }, false],
    [{ modelCalls: 1, turnCount: 0 }, true],
  ])(
    'was heard by a model when one replied, also in the middle of a turn: %j',
    async (counters, replied) => {
      await prepared();
      await ends(0, counters);
      expect(await closed()).toMatchObject({ outcome: { replied } });
    },
  );

  test('a plan that waits for a person is held beside the memory', async () => {
    await prepared();
    const place = { tenant: GOAL.tenant, goal: GOAL.runId, cycle: 1, key: 'k1' };
    const steps = [{ id: 'a', title: 'Match', status: 'open' }] as const;
    await bed.store.putProposal({ ...place, proposal: { kind: 'plan', steps } });
    await ends(0);
    const output = await closed({ holdPlan: true });
    expect(output).toMatchObject({ plan: { steps: 0 }, held: { facts: { steps: 1 } } });
    const saved = await attempt(bed.activities().save_checkpoint, {
      ...OF,
      definition: (await opened()).terms.definition,
      memory: output.memory!,
      held: output.held!.memory,
      n: 1,
      cycle: 1,
      at: 5,
      checks: {},
      progress: [],
      facts: {},
    });
    expect(JSON.parse((await bed.store.getBlob(GOAL.tenant, saved.held!)) ?? '')).toMatchObject({
      plan: { steps: [{ id: 'a' }] },
    });
  });

  test("fails as child_id_taken where Temporal has a stranger's run under its id, and costs nothing", async () => {
    await prepared();
    const outcomeBy = async (parent: string | null) => {
      const scope = { describe: async () => ({ state: 'running', parent }) } as unknown as Scope;
      const child = CHILD.runId;
      return (await childOutcome(bed.store, scope, { run: GOAL, child, last: false })).outcome;
    };
    expect(await outcomeBy(null)).toMatchObject({
      stopReason: 'failed',
      detail: 'child_id_taken',
      costMicroUsd: 0,
      replied: false,
    });
    expect(await outcomeBy('another_goal')).toMatchObject({ detail: 'child_id_taken' });
    expect(await outcomeBy(GOAL.runId)).toBeUndefined();
  });

  test('a child without a word at the end is lost, and its whole slice is billed', async () => {
    await prepared();
    expect(await closed({ last: true })).toMatchObject({
      outcome: { stopReason: 'failed', detail: 'lost', unconfirmed: true, replied: false },
    });
  });
});
