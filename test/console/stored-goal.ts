/** A goal of two cycles as the store has it: its events, memory, briefs, cycles, and what its cycles did. */
import { canonicalJson, type Json } from '../../core/json/json.js';
import type { AskView } from '../../core/state/ask-view.js';
import type { EventBody, RunEvent } from '../../core/state/event.js';
import type { GoalMemory, Plan, PlanStep, ReviewAnswers } from '../../core/state/goal/memory.js';
import type { GoalView } from '../../core/state/goal/view.js';
import { EMPTY_MEMORY } from '../../pure/goal/memory.js';
import type { Store } from '../../store/store.js';
import { eventsFrom, RESULT, SESSION_INIT } from '../store/fixtures.js';

export const GOAL = 'invoices';
const DAY_MS = 86_400_000;
const BEGAN = Date.UTC(2026, 10, 1, 8);
export const OBJECTIVE = 'All invoices of March are matched.';
const SLICE = {
  maxCostMicroUsd: 100_000,
  maxModelCalls: 'unlimited',
  maxToolCalls: 20,
  maxInputTokens: 'unlimited',
  maxOutputTokens: 'unlimited',
} as const;

const step = (id: string, title: string, more: Partial<PlanStep> = {}): PlanStep => ({
  id,
  title,
  status: 'open',
  by: 'agent',
  ...more,
});

export const STEPS: readonly PlanStep[] = [
  step('list', 'List the open invoices', { status: 'done', evidence: ['c1/look'] }),
  step('match', 'Match them with payments', { status: 'doing', note: 'Five are matched.' }),
  step('rest', 'Ask about the rest'),
];

const said = (answer: string, because: string, evidence: readonly string[] = []) => ({
  answer,
  because,
  evidence,
});
const ANSWERS: ReviewAnswers = {
  objective_valid: said('yes', 'Still wanted.'),
  progress: said('yes', 'Five fewer invoices are open.', ['check/open_invoices/2']),
  within_budget: said('yes', '0.04 of 1.00 USD is spent.'),
  done: said('no', 'Seven invoices are open.'),
  approval_needed: said('no', 'Nothing asks for one.'),
  compact_or_handoff: said('no', 'The brief is short.'),
};

const ASK: AskView = {
  askId: `${GOAL}:g1`,
  kind: 'approval',
  question: 'Start cycle 3 of the goal?',
  args: { goal: GOAL, n: 3, agent: 'clerk', brief: 'b'.repeat(64), slice: SLICE },
  argsHash: 'a'.repeat(64),
  roles: [],
  quorum: 1,
  policyVersion: 'p1',
  requestedBy: 'paula',
  steeredBy: ['carla'],
  openedAt: BEGAN + 3 * DAY_MS,
  // Questions of tests do not expire.
  expiresAt: Date.UTC(2099, 0, 1),
};

const DEFINITION = {
  objective: OBJECTIVE,
  constraints: ['Nothing is paid.'],
  agent: 'clerk',
  done: { all: [{ check: 'open_invoices', path: 'count', equals: 0 }] },
  validation: [{ name: 'open_invoices', measure: { path: 'count', better: 'lower' } }],
  budget: { maxCostMicroUsd: 1_000_000 },
};

const BRIEF = {
  task: { goal: `${OBJECTIVE}\n\nrita (proven) says:\nStart with the oldest.` },
  context: [{ origin: 'note', cycle: 1, by: 'clerk', text: 'Supplier 17 pays late.' }],
  sections: { objective: 9, people: 12, notes: 30 },
  tokens: 51,
};

export interface StoredGoal {
  readonly view: GoalView;
  /** Puts more events behind those that are there. */
  tell(...bodies: readonly EventBody[]): Promise<void>;
  /** Puts another plan in the place of that of revision 3; gives the hash of the memory that has it. */
  replan(plan: Plan): Promise<string>;
}

/** `asks`: its third cycle waits for an approval. */
export async function storeGoal(
  store: Store,
  { tenant = 'default', goalId = GOAL, asks = true, extra = [] as readonly EventBody[] } = {},
): Promise<StoredGoal> {
  const put = async (value: unknown): Promise<string> =>
    (await store.putBlob(tenant, canonicalJson(value as Json))).$blob;
  const memory: GoalMemory = {
    ...EMPTY_MEMORY,
    plan: { revision: 3, steps: STEPS },
    state: { 'matched.count': { value: 5, cycle: 1 } },
    notes: [{ cycle: 1, by: 'clerk', text: 'Supplier 17 pays late.', evidence: ['c1/look'] }],
    log: [
      { at: BEGAN, cycle: 1, kind: 'progress', text: 'Five matched.', evidence: ['c1/write'] },
      { at: BEGAN + DAY_MS, cycle: 2, kind: 'person', text: 'rita: Start with the oldest.' },
    ],
    measurements: { open_invoices: [{ at: BEGAN, cycle: 0, value: 12 }] },
    reviews: [{ n: 1, at: BEGAN, cycle: 1, answers: ANSWERS, decision: 'go_on' }],
    children: [
      {
        n: 1,
        runId: `${goalId}:c1`,
        agent: 'clerk',
        stopReason: 'completed',
        costMicroUsd: 40_000,
      },
    ],
    evidence: ['c1/look', 'check/open_invoices/2'],
  };
  const hash = await put(memory);
  const definition = await put(DEFINITION);
  const brief = await put(BRIEF);
  const result = await put({ count: 7, oldest: '2026-01-03' });
  const checkpoint = await put({ memory: hash, n: 2 });
  const body = (
    n: number,
    costMicroUsd: number,
    value: number,
    best: number,
  ): readonly EventBody[] => [
    {
      type: 'cycle_started',
      n,
      runId: `${goalId}:c${n}`,
      agent: 'clerk',
      budget: SLICE,
      brief,
      briefTokens: 51,
    },
    {
      type: 'cycle_ended',
      n,
      runId: `${goalId}:c${n}`,
      stopReason: 'completed',
      costMicroUsd,
      progress: n === 1 ? [{ kind: 'measure', id: 'open_invoices', value, best }] : [],
    },
    {
      type: 'check_finished',
      name: 'open_invoices',
      n: n + 1,
      known: true,
      value,
      best,
      digest: result,
    },
    {
      type: 'goal_review',
      n,
      cycle: n,
      answers: ANSWERS,
      decision: 'go_on',
      costMicroUsd: 2_000,
    },
    { type: 'checkpoint_saved', id: checkpoint, n: n + 1 },
  ];
  const bodies: readonly EventBody[] = [
    {
      type: 'goal_started',
      agent: 'clerk',
      objective: { text: OBJECTIVE },
      definition,
      maxCostMicroUsd: 1_000_000,
      pace: { everyMs: DAY_MS },
      caller: 'paula',
      versions: {},
    },
    { type: 'check_finished', name: 'open_invoices', n: 1, known: true, value: 12, best: 12 },
    {
      type: 'plan_changed',
      by: 'agent',
      revision: 3,
      memory: hash,
      steps: { open: 2, done: 1, all: 3 },
    },
    ...body(1, 40_000, 7, 7),
    {
      type: 'goal_steered',
      by: 'rita',
      proven: true,
      text: { text: 'Start with the oldest.' },
    },
    ...body(2, 30_000, 9, 7),
    ...(asks ? [{ type: 'approval_requested', ...ASK, askId: `${goalId}:g1` } as const] : []),
    ...extra,
  ];
  const source = { tenant, runId: goalId, execution: 'e1' };
  let seq = 0;
  const tell = async (...more: readonly EventBody[]): Promise<void> => {
    await store.appendEvents(source, eventsOf(goalId, more, seq));
    seq += more.length;
  };
  await tell(...bodies);
  await storeCycle(store, { tenant, goalId, brief });
  const replan = (plan: Plan): Promise<string> => put({ ...memory, plan });
  return { view: viewOf({ tenant, goalId, hash, definition }), tell, replan };
}

function eventsOf(runId: string, bodies: readonly EventBody[], from = 0): readonly RunEvent[] {
  return eventsFrom(from, bodies).map((event) => ({
    ...event,
    // An event each six hours.
    stamp: { ...event.stamp, runId, at: BEGAN + (event.stamp.seq * DAY_MS) / 4 },
  }));
}

async function storeCycle(
  store: Store,
  { tenant, goalId, brief }: { tenant: string; goalId: string; brief: string },
): Promise<void> {
  const child = `${goalId}:c1`;
  const start = canonicalJson(BRIEF);
  await store.registerChild({ tenant, child, parent: goalId, n: 1, digest: brief, start });
  const key = `${child}:write:1`;
  const subject = { tenant, key, argsDigest: 'd', attempt: 1 };
  await store.claim({
    ...subject,
    runId: child,
    callKey: '2',
    tool: 'books.write',
    claimedUntil: Date.now() + 60_000,
    sameKeyRetry: false,
  });
  await store.record({ ...subject, source: 'tool', result: { text: '{"matched":5}' } });
  const call = (callId: string, tool: string, text: string): readonly EventBody[] => [
    { type: 'tool_started', callId, tool, key: `${child}:${callId}:1`, args: { month: 3 } },
    {
      type: 'tool_finished',
      callId,
      tool,
      status: 'ok',
      content: { text },
      synthetic: false,
      started: true,
      attempts: 1,
      durationMs: 5,
      key: `${child}:${callId}:1`,
    },
  ];
  const bodies: readonly EventBody[] = [
    { ...SESSION_INIT, agent: 'clerk', taskId: child } as EventBody,
    ...call('look', 'books.read', '{"open":12}'),
    ...call('write', 'books.write', '{"matched":5}'),
    ...call('plan', 'goal_plan', 'taken'),
    { type: 'stop', reason: 'completed', status: 'completed' } as EventBody,
    { type: 'run_result', result: { ...RESULT, runId: child } },
  ];
  await store.appendEvents({ tenant, runId: child, execution: 'e1' }, eventsOf(child, bodies));
}

function viewOf({
  tenant,
  goalId,
  hash,
  definition,
}: {
  readonly tenant: string;
  readonly goalId: string;
  readonly hash: string;
  readonly definition: string;
}): GoalView {
  return {
    kind: 'goal',
    runId: goalId,
    tenant,
    agent: 'clerk',
    objective: OBJECTIVE,
    startedAt: BEGAN,
    opened: true,
    status: 'sleeping',
    segment: 1,
    cycles: 2,
    passes: 3,
    reviews: 2,
    checkpoints: 3,
    plan: { revision: 3, open: 2, done: 1, steps: 3 },
    checks: {},
    done: [{ condition: 'check open_invoices', verdict: 'not_held' }],
    budget: {
      maxCostMicroUsd: 1_000_000,
      hardMaxCostMicroUsd: 2_000_000,
      maxCycles: 10,
      deadlineMs: 'unlimited',
      maxModelCalls: 'unlimited',
      maxToolCalls: 'unlimited',
      maxInputTokens: 'unlimited',
      maxOutputTokens: 'unlimited',
      onBudget: 'stop',
      budgetRoles: [],
    },
    spentMicroUsd: 74_000,
    reservedMicroUsd: 0,
    pace: { everyMs: DAY_MS },
    sleep: { until: Date.now() + DAY_MS, because: 'pace' },
    unreadMessages: 0,
    asks: [],
    inFlight: [],
    counters: RESULT.counters,
    memory: hash,
    definition,
    events: 14,
  };
}
