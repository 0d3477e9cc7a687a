/**
 * What a question of a goal is about, for people: which cycle with which brief, which change of the plan, which money.
 * Invariant: everything here was computed by the goal or stands in its memory; nothing of it is said to stand in the task.
 */
import type { Json } from '../../core/json/json.js';
import { isRecord } from '../../core/json/shape.js';
import type { PlanStep } from '../../core/state/goal/memory.js';
import type { AskRow } from '../../store/asks.js';
import type { DeskStore } from '../desk-store.js';
import { memoryAt, newestMemory } from './goal-memory.js';

export const GOAL_ASKS = [
  'cycle',
  'plan_change',
  'handoff',
  'review',
  'budget',
  'stuck',
  'unknown',
  'person',
  'doubt',
  'other',
] as const;
export type GoalAskAbout = (typeof GOAL_ASKS)[number];

export interface GoalCard {
  readonly about: GoalAskAbout;
  readonly objective: string;
  readonly cycle?: number;
  readonly agent?: string;
  /** Names the brief of that cycle: GET /v1/goals/{goalId}/brief?digest=… */
  readonly brief?: string;
  readonly slice?: { readonly [limit: string]: number | string };
  readonly plan?: readonly StepChange[];
}

export interface StepChange {
  readonly id: string;
  readonly change: 'added' | 'dropped' | 'changed';
  readonly before?: StepShown;
  readonly after?: StepShown;
}

type StepShown = Pick<PlanStep, 'title' | 'status' | 'note'>;

type Reader = Pick<DeskStore, 'getRun' | 'readEvents' | 'getBlob'>;

/** Undefined: it is no question of a goal. */
export async function goalCardOf(store: Reader, ask: AskRow): Promise<GoalCard | undefined> {
  if (ask.callId !== undefined || ask.tool !== undefined) return undefined;
  const row = await store.getRun(ask.tenant, ask.runId);
  if (row?.kind !== 'goal') return undefined;
  const args = isRecord(ask.args) ? ask.args : {};
  const about = aboutOf(ask, args);
  const card = { about, objective: row.goalPreview };
  if (about === 'cycle') return { ...card, ...cycleIn(args) };
  if (about !== 'plan_change' || typeof args.memory !== 'string') return card;
  const [wanted, now] = await Promise.all([
    memoryAt(store, ask.tenant, args.memory),
    newestMemory(store, row),
  ]);
  if (wanted === undefined) return card;
  return { ...card, plan: planChanges(now?.plan.steps ?? [], wanted.plan.steps) };
}

type Args = { readonly [name: string]: unknown };

/** By what the goal asks about; a question of a later release is 'other'. */
function aboutOf({ kind }: AskRow, args: Args): GoalAskAbout {
  if (kind === 'budget') return 'budget';
  const known: readonly (readonly [field: string, about: GoalAskAbout])[] = [
    ['slice', 'cycle'],
    ['memory', 'plan_change'],
    ['to', 'handoff'],
    ['review', 'review'],
    ['row', 'stuck'],
    ['who', 'unknown'],
    ['condition', 'person'],
    ['effects', 'doubt'],
  ];
  return known.find(([field]) => Object.hasOwn(args, field))?.[1] ?? 'other';
}

function cycleIn({ n, agent, brief, slice }: Args): Partial<GoalCard> {
  return {
    ...(typeof n === 'number' && { cycle: n }),
    ...(typeof agent === 'string' && { agent }),
    ...(typeof brief === 'string' && { brief }),
    ...(isRecord(slice) && { slice: limitsIn(slice) }),
  };
}

function limitsIn(slice: object): Readonly<Record<string, number | string>> {
  const entries = Object.entries(slice) as readonly (readonly [string, Json])[];
  return Object.fromEntries(
    entries.flatMap(([name, value]) =>
      typeof value === 'number' || typeof value === 'string' ? [[name, value]] : [],
    ),
  );
}

/** Steps that are alike in title, status and note are none of the change. */
export function planChanges(
  before: readonly PlanStep[],
  after: readonly PlanStep[],
): readonly StepChange[] {
  const old = new Map(before.map((step) => [step.id, step]));
  const kept = new Set(after.map(({ id }) => id));
  const changed = after.flatMap((step): readonly StepChange[] => {
    const was = old.get(step.id);
    if (was === undefined) return [{ id: step.id, change: 'added', after: shown(step) }];
    if (isAlike(was, step)) return [];
    return [{ id: step.id, change: 'changed', before: shown(was), after: shown(step) }];
  });
  const gone = before.filter(({ id }) => !kept.has(id));
  return [
    ...changed,
    ...gone.map((step): StepChange => ({ id: step.id, change: 'dropped', before: shown(step) })),
  ];
}

function isAlike(one: PlanStep, other: PlanStep): boolean {
  return one.title === other.title && one.status === other.status && one.note === other.note;
}

function shown({ title, status, note }: PlanStep): StepShown {
  return { title, status, ...(note !== undefined && { note }) };
}
