/** What a pass leaves in the memory: measurements, entries of the progress log, reviews, the children so far. */
import type { CheckFacts, ProgressItem } from '../../core/state/goal/facts.js';
import {
  MEMORY_LIMITS,
  type ChildRecord,
  type GoalMemory,
  type LogEntry,
  type Measurement,
  type ReviewRecord,
} from '../../core/state/goal/memory.js';
import { cutText, newest } from './memory.js';

export interface PassFound {
  readonly cycle: number;
  /** ms since epoch. */
  readonly at: number;
  readonly checks: { readonly [name: string]: CheckFacts };
  readonly progress: readonly ProgressItem[];
  readonly child?: ChildRecord;
  readonly review?: ReviewRecord;
}

const LIMITS = MEMORY_LIMITS;
const ENTRY_CHARS_MAX = 500;

/** The same pass once more changes nothing. */
export function withPass(memory: GoalMemory, found: PassFound): GoalMemory {
  const { checks, progress, child, review } = found;
  const isNewChild = child !== undefined && !memory.children.some(({ n }) => n === child.n);
  const isNewReview = review !== undefined && !memory.reviews.some(({ n }) => n === review.n);
  const entries: LogEntry[] = [
    ...(isNewChild ? [childEntry(child, found)] : []),
    ...(isNewChild && progress.length > 0 ? [progressEntry(memory, found)] : []),
    ...(isNewReview ? [reviewEntry(review, found)] : []),
  ];
  const checkIds = Object.entries(checks)
    .filter(([, { known }]) => known)
    .map(([name, { n }]) => `check/${name}/${n}`);
  return {
    ...memory,
    measurements: withMeasurements(memory, found),
    log: newest([...memory.log, ...entries], LIMITS.logKept),
    reviews: isNewReview ? newest([...memory.reviews, review], LIMITS.reviewsKept) : memory.reviews,
    children: isNewChild
      ? newest([...memory.children, child], LIMITS.childrenKept)
      : memory.children,
    evidence: withEvidence(memory, checkIds),
    ...withCheckResults(memory, checks),
  };
}

function withCheckResults(
  { checkResults = [] }: GoalMemory,
  checks: PassFound['checks'],
): Pick<GoalMemory, 'checkResults'> {
  const fresh = Object.entries(checks).flatMap(([name, { known, n, digest }]) => {
    const id = `check/${name}/${n}`;
    const isNew = known && !checkResults.some((one) => one.id === id);
    return isNew && digest !== undefined ? [{ id, digest }] : [];
  });
  if (fresh.length === 0) return {};
  return { checkResults: newest([...checkResults, ...fresh], LIMITS.checkResultsKept) };
}

/** Ids that are there already stay where they are. */
export function withEvidence(
  { evidence }: Pick<GoalMemory, 'evidence'>,
  ids: readonly string[],
): readonly string[] {
  const fresh = [...new Set(ids)].filter((id) => !evidence.includes(id));
  return newest([...evidence, ...fresh], LIMITS.logKept);
}

export function withEntry(memory: GoalMemory, entry: LogEntry): GoalMemory {
  const text = cutText(entry.text, ENTRY_CHARS_MAX);
  return { ...memory, log: newest([...memory.log, { ...entry, text }], LIMITS.logKept) };
}

function withMeasurements(
  { measurements }: GoalMemory,
  { checks, cycle, at }: PassFound,
): GoalMemory['measurements'] {
  const next: { [check: string]: readonly Measurement[] } = { ...measurements };
  for (const [name, facts] of Object.entries(checks)) {
    if (!facts.known || facts.value === undefined || facts.cycle !== cycle) continue;
    const before = (Object.hasOwn(next, name) ? next[name] : undefined) ?? [];
    const newestOne = before.at(-1);
    if (newestOne?.cycle === cycle && newestOne.value === facts.value) continue;
    next[name] = newest([...before, { at, cycle, value: facts.value }], LIMITS.measurementsKept);
  }
  return next;
}

function childEntry(child: ChildRecord, { at, cycle }: PassFound): LogEntry {
  const { n, agent, stopReason, detail } = child;
  const end = detail === undefined ? stopReason : `${stopReason} (${detail})`;
  const text = cutText(`Cycle ${n} of ${agent} ended: ${end}.`, ENTRY_CHARS_MAX);
  return { at, cycle, kind: 'cycle', text };
}

function progressEntry(memory: GoalMemory, found: PassFound): LogEntry {
  const { at, cycle, progress } = found;
  const text = cutText(`Progress: ${progress.map(progressText).join(', ')}.`, ENTRY_CHARS_MAX);
  const ids = progress.flatMap((item) => provenBy(item, memory, found));
  const evidence = [...new Set(ids)].slice(0, LIMITS.evidenceIds);
  return { at, cycle, kind: 'progress', text, ...(evidence.length > 0 && { evidence }) };
}

/** A published value is its own proof. */
function provenBy(
  { kind, id }: ProgressItem,
  { plan }: GoalMemory,
  { checks }: PassFound,
): readonly string[] {
  switch (kind) {
    case 'measure':
      return Object.hasOwn(checks, id) ? [`check/${id}/${checks[id]!.n}`] : [];
    case 'step':
      return plan.steps.find((step) => step.id === id)?.evidence ?? [];
    case 'effect':
      return [`effect/${id}`];
    case 'state':
      return [];
  }
}

function progressText(item: ProgressItem): string {
  switch (item.kind) {
    case 'measure':
      return item.best === undefined
        ? `${item.id} is ${item.value}`
        : `${item.id} went from ${item.best} to ${item.value}`;
    case 'step':
      return `step ${item.id} is done`;
    case 'state':
      return `${item.id} is published`;
    case 'effect':
      return `effect ${item.id}`;
  }
}

function reviewEntry(review: ReviewRecord, { at, cycle }: PassFound): LogEntry {
  const { n, answers, decision } = review;
  const because = answers.objective_valid.because;
  const text = cutText(`Review ${n}: ${decision}. ${because}`, ENTRY_CHARS_MAX);
  const evidence = Object.values(answers).flatMap((answer) => answer.evidence);
  const ids = [...new Set(evidence)].slice(0, LIMITS.evidenceIds);
  return { at, cycle, kind: 'review', text, ...(ids.length > 0 && { evidence: ids }) };
}
