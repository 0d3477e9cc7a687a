/** How goals look on a terminal: their result, plan, measurements, reviews. Everything is made inert here. */
import type { GoalRecord, GoalResult } from '../../client/index.js';
import { REVIEW_QUESTIONS, type Plan, type ReviewRecord } from '../../core/state/goal/memory.js';
import type { RunResult } from '../../core/state/result.js';
import { endingWords, headlineHasDetail } from '../../pure/ending-words.js';
import { plural } from '../../pure/plural.js';
import { dateTimeText, usdText } from './amounts.js';
import { inert } from './inert.js';
import { PLAIN, type Paint } from './paint.js';
import { table } from './table.js';

const TEXT_CHARS_MAX = 500;

export function goalResultLines(
  result: GoalResult | RunResult,
  paint: Paint = PLAIN,
): readonly string[] {
  const status = result.completed
    ? paint.green('completed')
    : paint.yellow(inert(endingWords(result), 1_000));
  const { goal } = result;
  const conditions = goal?.done ?? [];
  const counts =
    goal === undefined
      ? []
      : [
          [
            plural(goal.cycles, 'cycle'),
            plural(goal.checkpoints, 'checkpoint'),
            usdText(result.costMicroUsd),
          ].join(' · '),
        ];
  const left = [
    ['Without a confirmed end', goal?.unconfirmed],
    ['Read by no cycle', goal?.unprocessed],
  ] as const;
  return [
    `${paint.bold(inert(result.runId))} ${status}`,
    ...(result.detail === undefined || headlineHasDetail(result)
      ? []
      : [inert(result.detail, 1_000)]),
    ...(goal === undefined ? [] : [`“${inert(goal.objective, TEXT_CHARS_MAX)}”`]),
    ...conditions.map(({ condition, held, verdict, evidence }) => {
      const proof =
        evidence.length === 0 ? '' : `  (${evidence.map((id) => inert(id)).join(', ')})`;
      const words = inert(condition, TEXT_CHARS_MAX);
      return held
        ? `${paint.green('✓')} ${words}${proof}`
        : `${paint.yellow('✗')} ${words}: ${verdict}`;
    }),
    ...(result.nextSafeAction === undefined ? [] : [`Next: ${inert(result.nextSafeAction)}`]),
    ...left.flatMap(([what, ids]) =>
      ids === undefined || ids.length === 0
        ? []
        : [paint.yellow(`${what}: ${inert(ids.join(', '), TEXT_CHARS_MAX)}`)],
    ),
    ...counts.map((line) => paint.dim(line)),
  ];
}

export function planLines({ revision, steps }: Plan, paint: Paint = PLAIN): readonly string[] {
  if (steps.length === 0) return [`Plan ${revision}: no steps yet.`];
  const rows = steps.map(({ id, title, status, by, evidence = [] }) => [
    id,
    status,
    by,
    evidence.join(', '),
    title,
  ]);
  const head = ['step', 'status', 'by', 'evidence', 'title'];
  return [`Plan ${revision}`, table({ head, rows, paint })];
}

export function measurementLines(
  { measurements }: Pick<GoalRecord, 'measurements'>,
  paint: Paint = PLAIN,
): readonly string[] {
  const rows = Object.entries(measurements).flatMap(([check, list]) => {
    const last = list.at(-1);
    if (last === undefined) return [];
    const values = list.slice(-8).map(({ value }) => String(value));
    return [[check, String(last.value), dateTimeText(last.at), values.join(' → ')]];
  });
  if (rows.length === 0) return [];
  return [table({ head: ['check', 'now', 'measured', 'before'], rows, paint })];
}

/** The six answers of a review, a line each. */
export function reviewLines(review: ReviewRecord, paint: Paint = PLAIN): readonly string[] {
  const { n, cycle, at, answers, decision } = review;
  const head = `Review ${n} after cycle ${cycle}, ${dateTimeText(at)}: ${inert(decision)}`;
  const rows = REVIEW_QUESTIONS.map((question) => {
    const { answer, because } = answers[question];
    return [question, answer, because];
  });
  return [head, table({ head: ['question', 'answer', 'because'], rows, paint })];
}

/** The progress log: when, in which cycle, what it cost and on what evidence. `children`: whose costs are known. */
export function logLines(
  log: GoalRecord['log'],
  children: GoalRecord['childRuns'],
  paint: Paint = PLAIN,
): readonly string[] {
  const costs = new Map(children.map(({ n, costMicroUsd }) => [n, usdText(costMicroUsd)]));
  const rows = log.map(({ at, cycle, kind, text, evidence = [] }) => [
    dateTimeText(at),
    String(cycle),
    kind,
    (kind === 'cycle' ? costs.get(cycle) : undefined) ?? '',
    evidence.join(', '),
    text,
  ]);
  return [table({ head: ['when', 'cycle', 'kind', 'cost', 'evidence', 'what'], rows, paint })];
}
