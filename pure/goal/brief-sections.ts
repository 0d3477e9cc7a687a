/** The sections of a brief that are data: what each shows, and in which order less of it is shown. */
import type { CheckFacts } from '../../core/state/goal/facts.js';
import type {
  GoalMemory,
  LogEntry,
  Measurement,
  Note,
  PlanStep,
  ReviewRecord,
} from '../../core/state/goal/memory.js';
import type { BriefPart } from './brief-part.js';
import { cutText, newest } from './memory.js';

/** How much of what is shown, the newest first to stay. */
export interface Amounts {
  /** Of each check, beside its newest. */
  readonly measurements: number;
  readonly entries: number;
  readonly closedNotes: boolean;
  readonly closedSteps: number;
  readonly reviews: number;
  readonly notes: number;
  readonly valueChars: number;
  readonly openNotes: boolean;
  readonly openSteps: number;
}

/** As much as is of use; none of it grows with the number of cycles. */
export const FULL: Amounts = {
  measurements: 5,
  entries: 5,
  closedNotes: true,
  closedSteps: 10,
  reviews: 1,
  notes: 12,
  valueChars: 32_768,
  openNotes: true,
  openSteps: 100,
};

type Less = (amounts: Amounts) => Amounts | undefined;

/** In this order: older measurements, progress entries, notes of closed steps, closed steps; then whatever is oldest. */
export const LESS: readonly Less[] = [
  (now) => (now.measurements > 0 ? { ...now, measurements: now.measurements - 1 } : undefined),
  (now) => (now.entries > 0 ? { ...now, entries: now.entries - 1 } : undefined),
  (now) => (now.closedNotes ? { ...now, closedNotes: false } : undefined),
  (now) => (now.closedSteps > 0 ? { ...now, closedSteps: now.closedSteps - 1 } : undefined),
  (now) => (now.reviews > 0 ? { ...now, reviews: now.reviews - 1 } : undefined),
  (now) => (now.notes > 0 ? { ...now, notes: Math.floor(now.notes / 2) } : undefined),
  (now) =>
    now.valueChars > 20 ? { ...now, valueChars: Math.floor(now.valueChars / 4) } : undefined,
  (now) => (now.openNotes ? { ...now, openNotes: false } : undefined),
  (now) => (now.openSteps > 1 ? { ...now, openSteps: Math.floor(now.openSteps / 2) } : undefined),
];

interface Shown {
  readonly memory: GoalMemory;
  readonly checks: { readonly [name: string]: CheckFacts };
  readonly feedback: readonly string[];
  readonly n: number;
}

export function sectionsOf(
  { memory, checks, feedback, n }: Shown,
  amounts: Amounts,
): readonly (readonly [name: string, parts: readonly BriefPart[]])[] {
  return [
    ['feedback', feedbackParts(feedback, n)],
    ['plan', planParts(memory, { n, amounts })],
    ['state', stateParts(memory, amounts)],
    ['checks', checkParts(memory, { checks, amounts })],
    ['notes', noteParts(memory, { n, amounts })],
    ['progress', entryParts(memory, amounts)],
    ['reviews', reviewParts(memory, amounts)],
  ];
}

function feedbackParts(feedback: readonly string[], n: number): readonly BriefPart[] {
  if (feedback.length === 0) return [];
  const text = feedback.map((line) => `- ${line}`).join('\n');
  return [{ origin: 'review', cycle: n - 1, by: 'goal', text }];
}

/** Steps of the same hand together: a card tells whose words a value stands in. */
function planParts(
  { plan }: GoalMemory,
  { n, amounts }: { readonly n: number; readonly amounts: Amounts },
): readonly BriefPart[] {
  const open = plan.steps.filter(({ status }) => !isClosed(status)).slice(0, amounts.openSteps);
  const closed = plan.steps.filter(({ status }) => isClosed(status));
  const kept = amounts.closedSteps === 0 ? [] : newest(closed, amounts.closedSteps);
  const shown = plan.steps.filter((step) => open.includes(step) || kept.includes(step));
  const hands = [...new Set(shown.map(({ by }) => by))];
  return hands.map((by) => {
    const own = shown.filter((step) => step.by === by);
    const text = own.map((step) => stepLine(step, amounts)).join('\n');
    return { origin: 'plan', cycle: n - 1, by, text: `Plan, revision ${plan.revision}:\n${text}` };
  });
}

function isClosed(status: PlanStep['status']): boolean {
  return status === 'done' || status === 'dropped';
}

function stepLine(step: PlanStep, { closedNotes, openNotes }: Amounts): string {
  const { id, status, title, note, evidence = [], byPerson } = step;
  const said = isClosed(status) ? closedNotes : openNotes;
  const proof = evidence.length === 0 ? '' : ` [${evidence.join(', ')}]`;
  const whose = byPerson === true ? ' (a person wrote it)' : '';
  const more = said && note !== undefined ? `\n  ${note}` : '';
  return `- ${id} (${status})${whose}: ${title}${proof}${more}`;
}

function stateParts({ state }: GoalMemory, { valueChars }: Amounts): readonly BriefPart[] {
  const cycles = new Map<number, string[]>();
  for (const [path, { value, cycle }] of Object.entries(state)) {
    const line = `${path} = ${cutText(JSON.stringify(value), valueChars)}`;
    cycles.set(cycle, [...(cycles.get(cycle) ?? []), line]);
  }
  return [...cycles].map(([cycle, lines]) => {
    return { origin: 'state', cycle, by: 'agent', text: `Published:\n${lines.join('\n')}` };
  });
}

function checkParts(
  { measurements }: GoalMemory,
  { checks, amounts }: { readonly checks: Shown['checks']; readonly amounts: Amounts },
): readonly BriefPart[] {
  return Object.entries(checks).map(([name, facts]) => {
    const all = Object.hasOwn(measurements, name) ? (measurements[name] ?? []) : [];
    const lines = [
      checkLine(name, facts),
      ...(facts.best === undefined ? [] : [`Best so far: ${facts.best}`]),
      ...earlier(all, amounts.measurements),
    ];
    return { origin: 'check', cycle: facts.cycle, by: name, text: lines.join('\n') };
  });
}

function checkLine(name: string, { known, value, held, n, because }: CheckFacts): string {
  const id = `check/${name}/${n}`;
  if (!known) return `Check ${name} gave no result: ${because ?? 'unknown'}.`;
  const said = value === undefined ? 'ran' : `gave ${value}`;
  const conditions =
    held.length === 0
      ? 'no condition of the goal holds by it'
      : 'a condition of the goal holds by it';
  return `Check ${name} ${said}; ${conditions}. [evidence ${id}]`;
}

function earlier(all: readonly Measurement[], count: number): readonly string[] {
  const older = all.slice(0, -1);
  if (count === 0 || older.length === 0) return [];
  const shown = newest(older, count).map(({ cycle, value }) => `cycle ${cycle}: ${value}`);
  return [`Earlier: ${shown.join(', ')}`];
}

/** The newest ones, and all of the cycle before. */
function noteParts(
  { notes }: GoalMemory,
  { n, amounts }: { readonly n: number; readonly amounts: Amounts },
): readonly BriefPart[] {
  if (amounts.notes === 0) return [];
  const isFull = amounts.notes === FULL.notes;
  const recent = isFull ? notes.filter(({ cycle }) => cycle >= n - 1).length : 0;
  return newest(notes, Math.max(amounts.notes, recent)).map(notePart);
}

function notePart({ cycle, by, text, evidence = [] }: Note): BriefPart {
  const proof = evidence.length === 0 ? '' : ` [${evidence.join(', ')}]`;
  return { origin: 'note', cycle, by, text: `${text}${proof}` };
}

function entryParts({ log }: GoalMemory, { entries }: Amounts): readonly BriefPart[] {
  const shown = log.filter(({ kind }) => kind === 'cycle' || kind === 'progress');
  if (entries === 0 || shown.length === 0) return [];
  const kept = newest(shown, entries);
  const text = kept.map(({ text: line }: LogEntry) => `- ${line}`).join('\n');
  const cycle = kept.at(-1)?.cycle ?? 0;
  return [{ origin: 'review', cycle, by: 'goal', text: `Progress so far:\n${text}` }];
}

function reviewParts({ reviews }: GoalMemory, amounts: Amounts): readonly BriefPart[] {
  if (amounts.reviews === 0) return [];
  return newest(reviews, amounts.reviews).map((review) => ({
    origin: 'review',
    cycle: review.cycle,
    by: 'goal',
    text: reviewText(review),
  }));
}

function reviewText({ n, decision, answers }: ReviewRecord): string {
  const lines = Object.entries(answers).map(
    ([question, { answer, because }]) => `- ${question}: ${answer}. ${because}`,
  );
  return [`Review ${n}: ${decision}.`, ...lines].join('\n');
}
