import type { CheckFacts } from '../../../core/state/goal/facts.js';
import type { GoalMemory, PlanStep } from '../../../core/state/goal/memory.js';
import { briefLimit, composeBrief, type BriefSources } from '../../../pure/goal/brief.js';
import { EMPTY_MEMORY } from '../../../pure/goal/memory.js';

const CHECK: CheckFacts = {
  n: 3,
  known: true,
  held: [],
  value: 7,
  best: 5,
  unknownCycles: 0,
  cycle: 2,
};

function steps(count: number, status: PlanStep['status']): readonly PlanStep[] {
  return Array.from({ length: count }, (_, index) => ({
    id: `${status}${index}`,
    title: `Title of ${status} ${index}`,
    status,
    note: `Note of ${status} ${index}`,
    by: 'agent',
  }));
}

const MEMORY: GoalMemory = {
  ...EMPTY_MEMORY,
  plan: { revision: 4, steps: [...steps(3, 'done'), ...steps(2, 'open')] },
  state: { 'open.count': { value: 7, cycle: 2 } },
  notes: [{ cycle: 1, by: 'matcher', text: 'IBAN CH93 0076' }],
  log: [{ at: 1, cycle: 2, kind: 'cycle', text: 'Cycle 2 of matcher ended: completed.' }],
  measurements: {
    open_invoices: [
      { at: 1, cycle: 0, value: 12 },
      { at: 2, cycle: 1, value: 5 },
      { at: 3, cycle: 2, value: 7 },
    ],
  },
};

function brief(changes: Partial<BriefSources> = {}) {
  return composeBrief({
    objective: 'All invoices of March are matched.',
    constraints: ['Touch no other month.'],
    memory: MEMORY,
    reads: [{ text: 'Start with the oldest.', by: 'mia', proven: true }],
    feedback: [],
    checks: { open_invoices: CHECK },
    n: 3,
    maxTokens: 8_000,
    ...changes,
  });
}

test('the task is objective, constraints and what people said, and nothing else', () => {
  expect(brief().task.goal).toBe(
    'All invoices of March are matched.\n\n' +
      'Constraints:\n- Touch no other month.\n\n' +
      'mia (proven) says:\nStart with the oldest.',
  );
  const quiet = brief({ reads: [], constraints: [] });
  expect(quiet.task.goal).toBe('All invoices of March are matched.');
});

test('all the rest is context that names where it comes from', () => {
  const { context } = brief({ feedback: ['The handoff was not approved: too early'] });
  const found = (origin: string) => context.filter((part) => part.origin === origin);
  expect(found('plan')).toEqual([
    expect.objectContaining({ by: 'agent', text: expect.stringContaining('open0 (open)') }),
  ]);
  expect(found('state')).toEqual([
    { origin: 'state', cycle: 2, by: 'agent', text: 'Published:\nopen.count = 7' },
  ]);
  expect(found('note')).toEqual([
    { origin: 'note', cycle: 1, by: 'matcher', text: 'IBAN CH93 0076' },
  ]);
  expect(found('check')[0]?.text).toBe(
    'Check open_invoices gave 7; no condition of the goal holds by it. [evidence check/open_invoices/3]\n' +
      'Best so far: 5\nEarlier: cycle 0: 12, cycle 1: 5',
  );
  expect(found('review').map(({ by }) => by)).toEqual(['goal', 'goal']);
  expect(found('review')[0]?.text).toContain('too early');
});

test('tokens are told by section, and their sum', () => {
  const { sections, tokens } = brief();
  expect(Object.keys(sections).sort()).toEqual(
    ['checks', 'constraints', 'notes', 'objective', 'people', 'plan', 'progress', 'state'].sort(),
  );
  expect(tokens).toBe(Object.values(sections).reduce((sum, count) => sum + count, 0));
});

test('what does not fit is cut in its order, people never', () => {
  const contents = (maxTokens: number) => {
    const { task, context } = brief({ maxTokens });
    const all = context.map(({ text }) => text).join('\n');
    return {
      people: task.goal.includes('Start with the oldest.'),
      measures: all.includes('Earlier:'),
      progress: all.includes('Progress so far'),
      closedNotes: all.includes('Note of done'),
      closedSteps: all.includes('done0 (done)'),
      openSteps: all.includes('open0 (open)'),
    };
  };
  const kept: string[][] = [];
  for (let maxTokens = 800; maxTokens >= 60; maxTokens -= 4) {
    const now = Object.entries(contents(maxTokens)).flatMap(([name, is]) => (is ? [name] : []));
    if (now.join() !== kept.at(-1)?.join()) kept.push(now);
  }
  expect(kept.map((names) => names.join(' '))).toEqual([
    'people measures progress closedNotes closedSteps openSteps',
    'people progress closedNotes closedSteps openSteps',
    'people closedNotes closedSteps openSteps',
    'people closedSteps openSteps',
    'people openSteps',
    'people',
  ]);
});

test('a brief fits its limit, as long as objective and people do', () => {
  const notes = Array.from({ length: 200 }, (_, index) => ({
    cycle: 2,
    by: 'matcher',
    text: `${index} ${'x'.repeat(400)}`,
  }));
  const state = Object.fromEntries(
    Array.from({ length: 60 }, (_, index) => [`p${index}`, { value: 'y'.repeat(500), cycle: 1 }]),
  );
  const plan = { revision: 9, steps: [...steps(50, 'done'), ...steps(50, 'open')] };
  for (const maxTokens of [500, 1_000, 4_000, 8_000]) {
    const full = brief({ memory: { ...MEMORY, notes, state, plan }, maxTokens });
    expect(full.tokens).toBeLessThanOrEqual(maxTokens);
  }
});

test('a late cycle has no longer brief than an early one', () => {
  const at = (n: number): GoalMemory => ({
    ...MEMORY,
    notes: Array.from({ length: Math.min(n, 200) }, (_, index) => ({
      cycle: Math.max(1, n - 200 + index),
      by: 'matcher',
      text: 'Matched some more.',
    })),
    log: Array.from({ length: Math.min(n, 200) }, () => MEMORY.log[0]!),
    measurements: {
      open_invoices: Array.from({ length: Math.min(n, 100) }, (_, index) => ({
        at: index,
        cycle: index,
        value: 100,
      })),
    },
  });
  const early = brief({ memory: at(20), n: 20 }).tokens;
  const late = brief({ memory: at(1_000), n: 1_000 }).tokens;
  expect(late / early).toBeLessThan(1.1);
});

test('a brief takes no more than half of what the slice pays, and of its tokens', () => {
  const limit = {
    briefTokens: 8_000,
    sliceMicroUsd: 30_000,
    inputMicroUsdPerMillion: 3_000_000,
    maxInputTokens: 'unlimited',
  } as const;
  expect(briefLimit(limit)).toBe(5_000);
  expect(briefLimit({ ...limit, maxInputTokens: 4_000 })).toBe(2_000);
  expect(briefLimit({ ...limit, inputMicroUsdPerMillion: 0 })).toBe(8_000);
});
