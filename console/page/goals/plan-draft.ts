/**
 * A plan as somebody edits it. Pure.
 * Invariants: what a person has not touched is sent as it was; on a newer plan only their own changes are made again.
 */
import type { PlanStep } from '../data/api-types.js';

/** As the goal takes them (core/state/goal/memory.ts). */
const STEPS_MAX = 100;
export const TITLE_CHARS_MAX = 200;

export interface Plan {
  readonly revision: number;
  readonly steps: readonly PlanStep[];
}

type Status = PlanStep['status'];

export interface DraftStep {
  readonly id: string;
  readonly title: string;
  readonly status: Status;
}

export interface PlanDraft {
  /** The plan that was looked at. */
  readonly base: Plan;
  readonly steps: readonly DraftStep[];
}

export interface SentStep extends DraftStep {
  readonly note?: string | undefined;
}

export function draftOf(plan: Plan): PlanDraft {
  return { base: plan, steps: plan.steps.map(bare) };
}

function bare({ id, title, status }: PlanStep): DraftStep {
  return { id, title, status };
}

export function edited(
  { base, steps }: PlanDraft,
  id: string,
  change: Partial<DraftStep>,
): PlanDraft {
  return { base, steps: steps.map((step) => (step.id === id ? { ...step, ...change } : step)) };
}

export function removed({ base, steps }: PlanDraft, id: string): PlanDraft {
  return { base, steps: steps.filter((step) => step.id !== id) };
}

/** With an id that neither the plan nor the draft has. */
export function added({ base, steps }: PlanDraft): PlanDraft {
  const id = freeId([...base.steps, ...steps]);
  return { base, steps: [...steps, { id, title: '', status: 'open' }] };
}

function freeId(taken: readonly { readonly id: string }[]): string {
  const ids = new Set(taken.map(({ id }) => id));
  let number = taken.length + 1;
  while (ids.has(`step-${number}`)) number += 1;
  return `step-${number}`;
}

/** By one place, up or down; at the end of the list as it is. */
export function moved({ base, steps }: PlanDraft, id: string, by: -1 | 1): PlanDraft {
  const from = steps.findIndex((step) => step.id === id);
  const step = steps[from];
  const other = steps[from + by];
  if (step === undefined || other === undefined) return { base, steps };
  const next = [...steps];
  next[from] = other;
  next[from + by] = step;
  return { base, steps: next };
}

/** People mark nothing done: what is done has evidence. A step that is done may stay so. */
export function statusesFor({ base }: PlanDraft, id: string): readonly Status[] {
  const before = base.steps.find((step) => step.id === id);
  const own: readonly Status[] = ['open', 'doing', 'dropped'];
  return before?.status === 'done' ? [...own, 'done'] : own;
}

/** Why it cannot be sent as it is, and which step it is about. */
export function planDefect({ base, steps }: PlanDraft): {
  readonly fault: string;
  readonly id?: string;
} | null {
  const blank = steps.findIndex(({ title }) => title.trim() === '');
  const found = steps[blank];
  if (found !== undefined) return { fault: `Step ${blank + 1} has no title.`, id: found.id };
  if (steps.length > STEPS_MAX) {
    return { fault: `A plan has at most ${STEPS_MAX} steps.` };
  }
  const isSame = JSON.stringify(steps) === JSON.stringify(base.steps.map(bare));
  return isSame ? { fault: 'Nothing is changed yet.' } : null;
}

/** Notes and evidence stay with their steps; a title that nobody touched stays to the last space. */
export function sentSteps({ base, steps }: PlanDraft): readonly SentStep[] {
  return steps.map((step) => {
    const before = base.steps.find(({ id }) => id === step.id);
    const title = step.title === before?.title ? step.title : step.title.trim();
    const note = before?.note;
    return { ...step, title, ...(note !== undefined && { note }) };
  });
}

/** Whether the plan is what was sent. */
export function isSet(sent: PlanDraft, plan: Plan): boolean {
  const wanted = sentSteps(sent).map(({ id, title, status }) => ({ id, title, status }));
  return JSON.stringify(wanted) === JSON.stringify(plan.steps.map(bare));
}

/** What somebody has typed, made again on a plan that others have changed meanwhile. */
export function rebased({ base, steps }: PlanDraft, newest: Plan): PlanDraft {
  const before = new Map(base.steps.map((step) => [step.id, step]));
  const now = new Map(newest.steps.map((step) => [step.id, step]));
  const mine: DraftStep[] = [];
  for (const step of steps) {
    const was = before.get(step.id);
    const is = now.get(step.id);
    if (was === undefined) {
      const isTaken = is !== undefined;
      const id = isTaken ? freeId([...base.steps, ...steps, ...newest.steps, ...mine]) : step.id;
      mine.push({ ...step, id });
    } else if (is !== undefined) {
      mine.push(merged(step, { was, is }));
    } else if (step.title !== was.title || step.status !== was.status) {
      // A step that somebody else removed is new, and new steps are not done.
      mine.push(step.status === 'done' ? { ...step, status: 'open' } : step);
    }
  }
  const theirs = newest.steps.filter(({ id }) => !before.has(id)).map(bare);
  return { base: newest, steps: [...mine, ...theirs] };
}

function merged(
  step: DraftStep,
  { was, is }: { readonly was: PlanStep; readonly is: PlanStep },
): DraftStep {
  return {
    id: step.id,
    title: step.title === was.title ? is.title : step.title,
    status: step.status === was.status ? is.status : step.status,
  };
}
