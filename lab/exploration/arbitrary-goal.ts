/**
 * Random goals in the format of fixtures: outcomes of checks and cycles, what people say, sleeps, deaths of workers. What
 * a goal is about is left to chance; what must hold for all of them is not.
 */
import fc from 'fast-check';
import type { FixtureDocument } from '../../evaluation/format/document.js';

const count = fc.integer({ min: 0, max: 6 });
const checkResult = fc.oneof(
  { weight: 6, arbitrary: count.map((left) => ({ ok: { left } })) },
  { weight: 1, arbitrary: fc.constant({ error: 'away' }) },
  { weight: 1, arbitrary: fc.constant({ lost: 'before' }) },
);

const stepId = fc.constantFrom('s1', 's2', 's3');
const evidence = fc.array(fc.constantFrom('c1/a', 'c2/a', 'check/left/1', 'c9/x'), {
  maxLength: 2,
});
const step = fc.record({
  id: stepId,
  title: fc.constantFrom('One', 'Two'),
  status: fc.constantFrom('open', 'doing', 'done', 'dropped'),
  evidence,
});

const goalCall = fc.oneof(
  fc.record({
    tool: fc.constant('goal_plan'),
    input: fc.record({
      steps: fc.uniqueArray(step, { minLength: 1, maxLength: 3, selector: ({ id }) => id }),
    }),
  }),
  fc.record({
    tool: fc.constant('goal_publish'),
    input: fc.record({ path: fc.constantFrom('a', 'b'), value: count }),
  }),
  fc.record({ tool: fc.constant('goal_note'), input: fc.record({ text: fc.constant('noted') }) }),
  fc.record({
    tool: fc.constant('goal_propose_done'),
    input: fc.record({ because: fc.constant('all is there') }),
  }),
  fc.record({
    tool: fc.constant('goal_ask_pause'),
    input: fc.record({ minutes: fc.integer({ min: 1, max: 300 }), because: fc.constant('later') }),
  }),
  fc.record({
    tool: fc.constant('goal_block'),
    input: fc.record({ kind: fc.constant('external'), because: fc.constant('closed') }),
  }),
);
const workCall = fc.oneof(
  fc.constant({ tool: 'read_order', input: { orderId: '1' } }),
  fc.constant({ tool: 'write_note', input: { text: 'one' } }),
  fc.constant({ tool: 'issue_refund', input: { order: '1', amount: 1 } }),
);
const calls = fc
  .array(fc.oneof(goalCall, workCall), { minLength: 1, maxLength: 3 })
  .map((proposed) => proposed.map((call, index) => ({ id: 'abc'[index]!, ...call })));

const reply = fc.oneof(
  { weight: 3, arbitrary: fc.constant({ text: 'Worked.' }) },
  { weight: 3, arbitrary: fc.record({ calls }) },
  { weight: 1, arbitrary: fc.constant({ refuse: 'No.' }) },
  { weight: 1, arbitrary: fc.constant({ error: { status: 529 } }) },
);
const cycle = fc
  .array(reply, { minLength: 1, maxLength: 2 })
  .map((model) => ({ model: [...model, { text: 'That is all.' }] }));

const condition = fc.oneof(
  { weight: 4, arbitrary: fc.constant({ check: 'left', path: 'left', equals: 0 }) },
  fc.constant({ plan: 'complete' }),
  fc.constant({ state: 'a', gte: 3 }),
  fc.constant({ judge: 'quality', rubric: 'Good.', atLeast: 0.5 }),
  fc.constant({ person: { roles: ['owner'], question: 'Enough?' } }),
);
const conditions = fc.array(condition, { minLength: 1, maxLength: 3 });

const loop = fc.record(
  {
    done: fc.oneof(fc.record({ all: conditions }), fc.record({ any: conditions })),
    budget: fc.record({
      maxCostMicroUsd: fc.constantFrom(150_000, 400_000, 1_000_000),
      maxCycles: fc.integer({ min: 1, max: 6 }),
    }),
    pace: fc.constantFrom(
      'continuous',
      { everyMs: 3_600_000 },
      { cron: '0 9 * * *', timezone: 'UTC' },
    ),
    reviewEvery: fc.record({ cycles: fc.integer({ min: 1, max: 3 }) }),
    approval: fc.constantFrom(
      [{ before: 'every_cycle', roles: ['manager'], expiresInMs: 86_400_000 }],
      [{ before: 'plan_change', roles: ['manager'], expiresInMs: 3_600_000 }],
    ),
    stopRules: fc.record({ onStuck: fc.constantFrom('stop', 'ask') }),
  },
  { requiredKeys: ['done', 'budget'] },
);

const event = fc.constantFrom(
  'cycle_started',
  'cycle_ended',
  'check_finished',
  'goal_review',
  'checkpoint_saved',
  'goal_sleeping',
  'goal_woken',
  'approval_requested',
  'tool_started',
  'stop',
);
const action = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      resolveApproval: fc.record({
        decision: fc.constantFrom('approve', 'reject'),
        by: fc.constantFrom('ann', 'bob'),
      }),
    }),
  },
  { weight: 3, arbitrary: fc.constant({ killWorker: true }) },
  { weight: 2, arbitrary: fc.constant({ continueAsNew: true }) },
  { weight: 2, arbitrary: fc.constantFrom({ steer: 'Hurry.' }, { steer: 'Mind the cents.' }) },
  fc.constant({ wake: true }),
  fc.constant([{ pause: true }, { advance: '2h' }, { resume: true }]),
  fc.constant({ review: true }),
  fc.constant({ setPlan: [{ id: 's1', title: 'By hand' }] }),
  fc.constant({ setBudget: { maxCostMicroUsd: 140_000 } }),
  fc.constant({ interrupt: true }),
  fc.constant({ stop: true }),
  fc.constant({ cancel: true }),
);
const during = fc.array(
  fc.record({
    on: fc.record({ event, n: fc.integer({ min: 1, max: 4 }) }),
    do: action,
    times: fc.integer({ min: 1, max: 3 }),
  }),
  { maxLength: 5 },
);

const judgement = fc.oneof(
  fc.record({ score: fc.constantFrom(0.2, 0.9), evidence }),
  fc.constant({ error: 'overloaded' }),
);
const review = fc.oneof(
  { weight: 4, arbitrary: fc.record({ objective_valid: fc.constant(true) }) },
  fc.constant({ objective_valid: true, approval_needed: true }),
  fc.constant({ objective_valid: true, pause: '2h' }),
  fc.constant({ objective_valid: true, plan: [{ id: 's2', title: 'Two' }] }),
  fc.constant({ objective_valid: false, because: 'Overtaken.' }),
  fc.constant({ error: 'overloaded' }),
);

/** A random goal; its expectation says nothing, because the invariants are checked in any case. */
export const arbitraryGoal: fc.Arbitrary<FixtureDocument> = fc
  .record(
    {
      goalLoop: loop,
      left: fc.array(checkResult, { minLength: 1, maxLength: 6 }),
      cycles: fc.array(cycle, { minLength: 1, maxLength: 3 }),
      reviews: fc.array(review, { minLength: 1, maxLength: 3 }),
      quality: fc.array(judgement, { minLength: 1, maxLength: 3 }),
      during,
    },
    { requiredKeys: ['goalLoop', 'left', 'cycles', 'quality'] },
  )
  .map(
    ({ left, quality, goalLoop, ...parts }) =>
      ({
        case_id: 'random',
        goal: 'Nothing is left.',
        goalLoop: {
          ...goalLoop,
          validation: [{ name: 'left', measure: { path: 'left', better: 'lower' } }],
          judges: { quality: {} },
          cycle: { maxCostMicroUsd: 100_000, maxTurns: 5, approvalTimeoutMs: 3_600_000 },
        },
        checks: { left },
        judges: { quality },
        expected: { max_tool_calls: 1_000_000 },
        ...parts,
      }) as unknown as FixtureDocument,
  );
