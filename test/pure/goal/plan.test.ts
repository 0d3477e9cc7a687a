import type { GoalMemory, PlanStep } from '../../../core/state/goal/memory.js';
import { MEMORY_LIMITS } from '../../../core/state/goal/memory.js';
import type { Proposal, ProposedStep } from '../../../core/state/goal/proposal.js';
import { EMPTY_MEMORY, factsOf, memoryIn, memoryText } from '../../../pure/goal/memory.js';
import { applyProposals, type Closing } from '../../../pure/goal/proposals.js';
import { proposalDefect, stepsDefect } from '../../../pure/goal/proposal-defect.js';
import { setPlan } from '../../../pure/goal/set-plan.js';

const real = new Set(['c1/a', 'c1/b']);
const exists = (id: string): boolean => real.has(id);

function closing(memory: GoalMemory, changes: Partial<Closing> = {}): Closing {
  return {
    cycle: 1,
    at: 1_000,
    agent: 'matcher',
    base: memory.plan,
    exists,
    handoffTo: ['clerk'],
    maxAskedPauseMs: 500,
    scope: 'all',
    ...changes,
  };
}

function apply(memory: GoalMemory, proposals: readonly Proposal[], changes?: Partial<Closing>) {
  return applyProposals(memory, proposals, closing(memory, changes));
}

function step(id: string, changes: Partial<ProposedStep> = {}): ProposedStep {
  return { id, title: `Step ${id}`, status: 'open', ...changes };
}

function plan(...steps: readonly ProposedStep[]): Proposal {
  return { kind: 'plan', steps };
}

function withPlan(...steps: readonly PlanStep[]): GoalMemory {
  return { ...EMPTY_MEMORY, plan: { revision: 1, steps } };
}

const A: PlanStep = { id: 'a', title: 'Step a', status: 'open', by: 'agent' };
const PERSONS: PlanStep = { id: 'p', title: 'Ask Mia', status: 'open', by: 'mia', byPerson: true };

describe('a plan of a cycle', () => {
  test('adds steps, changes those that it names and leaves the others', () => {
    const { memory, change } = apply(withPlan(A), [
      plan(step('b')),
      plan(step('b', { title: 'B' })),
    ]);
    expect(memory.plan.steps.map(({ id, title }) => [id, title])).toEqual([
      ['a', 'Step a'],
      ['b', 'B'],
    ]);
    expect(memory.plan.revision).toBe(3);
    expect(change).toMatchObject({ added: 1, renamed: 1, dropped: 0 });
  });

  test('says the order of the steps when it names all of them', () => {
    const { memory } = apply(withPlan(A), [plan(step('b'), step('a'))]);
    expect(memory.plan.steps.map(({ id }) => id)).toEqual(['b', 'a']);
  });

  test('changes nothing, and no revision, when it says what is there', () => {
    const before = memoryIn(memoryText(withPlan(A)));
    expect(apply(before, [plan(step('a'))]).memory.plan).toEqual(before.plan);
  });

  test('marks a step as done only with evidence that exists, and tells of ids that do not', () => {
    const claim = plan(step('a', { status: 'done', evidence: ['c9/x'] }));
    const claimed = apply(withPlan(A), [claim]);
    expect(claimed.memory.plan.steps[0]).toMatchObject({ status: 'open' });
    expect(claimed.unknownEvidence).toEqual(['c9/x']);
    const proof = plan(step('a', { status: 'done', evidence: ['c9/x', 'c1/a'] }));
    const proven = apply(withPlan(A), [proof]);
    expect(proven.memory.plan.steps[0]).toMatchObject({ status: 'done', evidence: ['c1/a'] });
    expect(proven.change.done).toEqual(['a']);
    expect(factsOf(proven.memory.plan)).toMatchObject({ open: 0, done: 1, steps: 1 });
  });

  test('a step is progress once, also when it was opened again', () => {
    const done = plan(step('a', { status: 'done', evidence: ['c1/a'] }));
    const { memory } = apply(withPlan(A), [done]);
    const reopened = apply(memory, [plan(step('a'))]);
    expect(reopened.memory.plan.steps[0]).toMatchObject({ status: 'open' });
    const again = apply(reopened.memory, [done]);
    expect(again.memory.plan.steps[0]).toMatchObject({ status: 'done' });
    expect(again.change.done).toEqual([]);
  });

  test('a step that the cycle itself added is no progress', () => {
    const proposals = [plan(step('b')), plan(step('b', { status: 'done', evidence: ['c1/b'] }))];
    const { memory, change } = apply(withPlan(A), proposals);
    expect(memory.plan.steps[1]).toMatchObject({ id: 'b', status: 'done' });
    expect(change.done).toEqual([]);
  });

  test('does not rename or drop the step of a person, but may mark it done', () => {
    const rename = plan(step('p', { title: 'Forget Mia', status: 'doing' }));
    const renamed = apply(withPlan(PERSONS), [rename]);
    expect(renamed.memory.plan.steps[0]).toMatchObject({ title: 'Ask Mia', status: 'doing' });
    const dropped = apply(withPlan(PERSONS), [plan(step('p', { status: 'dropped' }))]);
    expect(dropped.memory.plan.steps).toEqual([PERSONS]);
    expect(dropped.superseded).toEqual([expect.stringContaining('step p')]);
    const done = plan(step('p', { status: 'done', evidence: ['c1/a'] }));
    expect(apply(withPlan(PERSONS), [done]).memory.plan.steps[0]).toMatchObject({
      title: 'Ask Mia',
      status: 'done',
      by: 'mia',
    });
  });

  test('where a person came between, the person stays, and the rest applies', () => {
    const read = withPlan(A, { ...A, id: 'gone' }).plan;
    const now = withPlan({ ...A, title: 'By Mia', by: 'mia', byPerson: true });
    const proposal = plan(step('a', { title: 'Mine' }), step('gone'), step('new'));
    const { memory, superseded } = apply(now, [proposal], { base: read });
    expect(memory.plan.steps.map(({ id, title }) => [id, title])).toEqual([
      ['a', 'By Mia'],
      ['new', 'Step new'],
    ]);
    expect(superseded).toHaveLength(2);
    expect(memory.notes).toMatchObject([
      { superseded: true, text: expect.stringContaining('step a') },
      { superseded: true, text: expect.stringContaining('step gone') },
    ]);
  });

  test('waits for a person where it adds, drops or renames, but for its marks', () => {
    const done = step('a', { title: 'Other', status: 'done', evidence: ['c1/a'] });
    const { memory } = apply(withPlan(A), [plan(done, step('b'))], { scope: 'marks' });
    expect(memory.plan.steps).toMatchObject([{ id: 'a', title: 'Step a', status: 'done' }]);
  });

  test('makes room by forgetting dropped steps, and never has more than 100', () => {
    const many = Array.from({ length: 99 }, (_, index) => ({ ...A, id: `s${index}` }));
    const full = withPlan({ ...A, status: 'dropped' }, ...many);
    const { memory } = apply(full, [plan(step('b'))]);
    expect(memory.plan.steps).toHaveLength(100);
    expect(memory.plan.steps.some(({ id }) => id === 'a')).toBe(false);
    const refused = apply(memory, [plan(step('c'))]);
    expect(refused.memory.plan).toEqual(memory.plan);
    expect(refused.superseded).toEqual([expect.stringContaining('100 steps')]);
  });
});

describe('other proposals of a cycle', () => {
  test('a path is published once a cycle, and a later cycle may replace it', () => {
    const publish = (value: number): Proposal => ({ kind: 'publish', path: 'open.count', value });
    const first = apply(EMPTY_MEMORY, [publish(3), publish(2)]);
    expect(first.memory.state).toEqual({ 'open.count': { value: 3, cycle: 1 } });
    expect(first.firstPaths).toEqual(['open.count']);
    expect(first.superseded).toHaveLength(1);
    const later = apply(first.memory, [publish(1)], { cycle: 2 });
    expect(later.memory.state).toEqual({ 'open.count': { value: 1, cycle: 2 } });
    expect(later.firstPaths).toEqual([]);
  });

  test('64 paths and 32 KiB are published at most', () => {
    const publish = (path: string, value: string): Proposal => ({ kind: 'publish', path, value });
    const many = Array.from({ length: 65 }, (_, index) => publish(`p${index}`, 'x'));
    const { memory, superseded } = apply(EMPTY_MEMORY, many);
    expect(Object.keys(memory.state)).toHaveLength(64);
    expect(superseded).toEqual([expect.stringContaining('64 published paths')]);
    const large = [publish('a', 'x'.repeat(20_000)), publish('b', 'x'.repeat(20_000))];
    expect(Object.keys(apply(EMPTY_MEMORY, large).memory.state)).toEqual(['a']);
  });

  test('50 notes of a cycle are kept, with the evidence that exists', () => {
    const note = (text: string): Proposal => ({ kind: 'note', text, evidence: ['c1/a', 'c1/z'] });
    const many = Array.from({ length: 51 }, (_, index) => note(`n${index}`));
    const { memory, superseded, unknownEvidence } = apply(EMPTY_MEMORY, many);
    expect(memory.notes.filter((one) => one.superseded !== true)).toHaveLength(50);
    expect(memory.notes[0]).toEqual({ cycle: 1, by: 'matcher', text: 'n0', evidence: ['c1/a'] });
    expect(superseded).toHaveLength(1);
    expect(unknownEvidence).toEqual(['c1/z']);
  });

  test('done, a handoff, a pause and what blocks are told, the last of each', () => {
    const because = 'Why not.';
    const told = apply(EMPTY_MEMORY, [
      { kind: 'done', because },
      { kind: 'handoff', to: 'clerk', because },
      { kind: 'handoff', to: 'stranger', because },
      { kind: 'pause', until: 9_999_999, because },
      { kind: 'block', block: 'external', because },
      { kind: 'block', block: 'authority', because, step: 'a' },
    ]);
    expect(told).toMatchObject({
      proposedDone: true,
      handoff: { to: 'clerk' },
      pause: { until: 1_500 },
      block: { kind: 'authority', step: 'a' },
      superseded: [expect.stringContaining('stranger')],
    });
  });
});

describe('what is wrong with a proposal is said by the name of its limit', () => {
  test.each([
    [plan(), 'must not be empty'],
    [plan(...Array.from({ length: 101 }, (_, index) => step(`s${index}`))), '100 steps'],
    [plan(step('x'.repeat(65))), '64'],
    [plan(step('a'), step('a')), 'twice'],
    [plan(step('a', { title: 'x'.repeat(201) })), '200 characters'],
    [plan(step('a', { title: ' ' })), 'blank'],
    [plan(step('a', { note: 'x'.repeat(501) })), '500 characters'],
    [plan(step('a', { evidence: Array.from({ length: 11 }, () => 'c1/a') })), '10 ids'],
    [plan(step('a', { status: 'finished' as 'done' })), 'status'],
    [{ kind: 'note', text: 'x'.repeat(501) }, '500 characters'],
    [{ kind: 'publish', path: 'a..b', value: 1 }, 'dotted path'],
    [{ kind: 'publish', path: 'a', value: { $blob: 'x', bytes: 1 } }, 'plain JSON'],
    [{ kind: 'publish', path: 'a', value: 'x'.repeat(40_000) }, '32768 bytes'],
    [{ kind: 'block', block: 'other', because: 'x' }, 'kind must be one of'],
    [{ kind: 'pause', until: Number.NaN, because: 'x' }, 'until'],
    [{ kind: 'other' }, 'not known'],
    [null, 'an object'],
  ])('%#', (proposal, words) => {
    expect(proposalDefect(proposal)).toContain(words);
  });

  test('a sound one has no defect', () => {
    const sound = step('a', { note: 'n', evidence: ['c1/a'] });
    expect(proposalDefect(plan(sound))).toBeUndefined();
    expect(stepsDefect('no list')).toBe('steps must be a list.');
  });
});

describe('a plan that a person writes', () => {
  const said = { by: 'mia', exists };

  test('takes the place of the plan; what the person left stays whose it was', () => {
    const written = setPlan(withPlan(A, { ...A, id: 'b' }).plan, {
      ...said,
      steps: [step('n'), step('a')],
      revision: 1,
    });
    expect(written).toEqual({
      plan: {
        revision: 2,
        steps: [{ ...step('n'), by: 'mia', byPerson: true }, A],
      },
    });
  });

  test('is refused when another revision was looked at', () => {
    const stale = setPlan(withPlan(A).plan, { ...said, steps: [step('a')], revision: 7 });
    expect(stale).toMatchObject({
      reason: 'stale_plan',
      message: expect.stringContaining('StalePlan'),
    });
  });

  test('marks a step as done only with evidence that exists', () => {
    const done = step('a', { status: 'done', evidence: ['c9/x'] });
    const refused = setPlan(withPlan(A).plan, { ...said, steps: [done] });
    expect(refused).toMatchObject({ reason: 'not_applicable' });
    const steps = [{ ...done, evidence: ['c1/a'] }];
    expect(setPlan(withPlan(A).plan, { ...said, steps })).toMatchObject({
      plan: { steps: [{ status: 'done', evidence: ['c1/a'], byPerson: true }] },
    });
  });

  test('is refused by the name of a limit', () => {
    const steps = Array.from({ length: MEMORY_LIMITS.steps + 1 }, (_, index) => step(`s${index}`));
    expect(setPlan(EMPTY_MEMORY.plan, { ...said, steps })).toMatchObject({
      reason: 'malformed',
      message: expect.stringContaining('100 steps'),
    });
  });
});
