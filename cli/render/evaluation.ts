/** Cases of an evaluation, and its metrics, as people read them. */
import type { CaseOutcome } from '../../evaluation/evaluate.js';
import type { Difference } from '../../evaluation/compare.js';
import type { Summary } from '../../evaluation/report.js';
import { plural } from '../../pure/plural.js';
import { countText, durationText, usdText } from './amounts.js';
import { inert, inertInline } from './inert.js';
import type { Paint } from './paint.js';

const VALUE_CHARS_MAX = 400;
const ID_COLUMN = 32;

export function caseLine(outcome: CaseOutcome, paint: Paint): string {
  const { fixture, engine, why, tookMs } = outcome;
  const { caseId, title } = fixture;
  const facts = [engine, why === undefined ? durationText(tookMs) : `skipped: ${why}`];
  return [
    mark(outcome.outcome, paint),
    inert(caseId).padEnd(ID_COLUMN),
    paint.dim(facts.map((fact) => inert(fact)).join(', ')),
    ...(title === undefined ? [] : [inert(title, 80)]),
  ].join('  ');
}

function mark(outcome: CaseOutcome['outcome'], paint: Paint): string {
  switch (outcome) {
    case 'passed':
      return paint.green('passed ');
    case 'failed':
      return paint.red('failed ');
    case 'skipped':
      return paint.yellow('skipped');
  }
}

/** The first difference, how many more there are, and what to type to see it again. */
export function failureLines(
  { differences, whyEnded }: Pick<CaseOutcome, 'differences' | 'whyEnded'>,
  again: string,
  paint: Paint,
): readonly string[] {
  const [first] = differences;
  const more = differences.length - 1;
  return [
    ...(first === undefined
      ? []
      : [
          `  ${paint.bold(inert(first.path))}${more > 0 ? paint.dim(` and ${more} more`) : ''}`,
          `    expected  ${valueText(first.expected)}`,
          `    observed  ${valueText(first.observed)}`,
        ]),
    ...endLines(whyEnded),
    `    again     ${again}`,
  ];
}

function endLines(why: CaseOutcome['whyEnded']): readonly string[] {
  if (why === undefined) return [];
  const { stopped, rule, against } = why;
  return [
    `    ended     ${inert(stopped, VALUE_CHARS_MAX)}`,
    ...(rule === undefined ? [] : [`    rule      ${inert(rule, VALUE_CHARS_MAX)}`]),
    ...(against === undefined ? [] : [`    against   ${inert(against, VALUE_CHARS_MAX)}`]),
  ];
}

/** A sentence is shown as it is, anything else as JSON. */
function valueText(value: Difference['expected']): string {
  return typeof value === 'string' && value.trim() !== ''
    ? inert(value, VALUE_CHARS_MAX)
    : inertInline(value, VALUE_CHARS_MAX);
}

export function summaryLines(summary: Summary): readonly string[] {
  const { token_and_tool_cost: cost, latency_ms: latency } = summary;
  const { usage } = cost;
  const tokens = `${countText(usage.in + usage.cacheR + usage.cacheW)} in, ${countText(usage.out)} out`;
  const tools = `${plural(cost.tool_calls, 'tool call')} in ${plural(cost.tool_attempts, 'attempt')}`;
  const times = [
    `median ${durationText(latency.median)}`,
    `95 % ${durationText(latency.p95)}`,
    `longest ${durationText(latency.max)}`,
  ];
  return [
    `${summary.passed} passed, ${summary.failed} failed, ${summary.skipped} skipped`,
    '',
    `completion rate       ${percent(summary.completion_rate)}`,
    `correct stop reason   ${percent(summary.correct_stop_reason)}`,
    `invalid-action rate   ${percent(summary.invalid_action_rate)}`,
    `repeated-action rate  ${percent(summary.repeated_action_rate)}`,
    `escalation accuracy   ${percent(summary.escalation_accuracy)}`,
    `token and tool cost   ${tokens}, ${usdText(cost.cost_micro_usd)}; ${tools}`,
    `latency               ${times.join(', ')}`,
    `replay success        ${percent(summary.replay_success)}`,
  ];
}

/** Rounded down: nothing but everything is 100 %. */
function percent(share: number | null): string {
  return share === null ? 'nothing to count' : `${Math.floor(share * 1_000) / 10} %`;
}
