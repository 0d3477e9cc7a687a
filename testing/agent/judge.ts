/** What is expected of a run under test, judged in one place for all test runners. */
import type { AskKind, AskOutcome } from '../../core/state/ask-kinds.js';
import type { StopReason } from '../../core/state/result.js';
import { TOOL_RESULT_CODES, type ToolResultCode } from '../../core/state/tool-result.js';
import { STOP_MEANINGS } from '../../core/step/stop.js';
import { ASK_KINDS, ASK_OUTCOMES } from '../../pure/ask-words.js';
import { needed, oneOf, rules, type OptionRules } from '../../pure/options.js';
import { plural } from '../../pure/plural.js';
import { roleOf } from './agent-role.js';
import { refuseStrangers } from './cast.js';
import { checkFields } from './check-test.js';
import { isAsymmetric, isMatch } from './match.js';
import type { TestedAsk, TestedCall, TestedRun } from './tested-run.js';

/** Beside the arguments of a call. */
export interface CallExpectation {
  /** How often; default: at least once. */
  readonly times?: number;
  /** `ok` or how it did not go well; default: the tool was called, however that went. */
  readonly outcome?: 'ok' | ToolResultCode;
  /** Who called the tool: the path of a sub-agent (`refund/auditor`), or its own name (`auditor`). */
  readonly agent?: string;
}

export interface AskExpectation {
  readonly tool?: string;
  /** As those of `toHaveCalled`. */
  readonly args?: unknown;
  readonly kind?: AskKind;
  readonly outcome?: AskOutcome;
  /** All of these may decide, and nobody else. */
  readonly roles?: readonly string[];
}

/** In micro-USD, as `usd(0.05)` gives it; a number is the exact cost. */
export type CostExpectation = number | { readonly min?: number; readonly max?: number };

type Call = CallExpectation & { readonly tool: string; readonly args?: unknown };

const CALL: OptionRules<Call> = {
  ...rules('text! tool, any args, text agent, whole times'),
  // `open` is the status of a call that the run has ended before.
  outcome: oneOf('ok', 'open', ...TOOL_RESULT_CODES),
};
const ASK: OptionRules<AskExpectation> = {
  ...rules('text tool, any args, texts roles'),
  kind: oneOf(...ASK_KINDS),
  outcome: oneOf(...ASK_OUTCOMES),
};
const COST = rules('amount min max');
const STOP = { reason: needed(oneOf(...Object.keys(STOP_MEANINGS))), ...rules('words detail') };

export interface Judgement {
  readonly pass: boolean;
  /** What was wanted, after "the run". */
  readonly wanted: string;
  /** What is there instead, in a few lines. */
  readonly found: string;
}

const LINES_MAX = 20;
const VALUE_CHARS_MAX = 200;

/** A tool was called with arguments that have at least what `args` has. */
export function judgeCalled(
  run: TestedRun<unknown>,
  tool: string,
  expected: CallExpectation & { readonly args?: unknown } = {},
): Judgement {
  checkFields('An expected call', { ...expected, tool }, CALL);
  refuseStrangers(run, { tool, agent: expected.agent });
  const { args, times, outcome, agent } = expected;
  const fits = (call: TestedCall): boolean =>
    call.tool === tool &&
    (outcome === undefined ? call.ran : outcome === (call.code ?? call.status)) &&
    (agent === undefined || call.agent === agent || roleOf(call.agent) === agent) &&
    (args === undefined || isMatch(args, call.args));
  const count = run.calls.filter(fits).length;
  const how = [
    args === undefined ? '' : ` with ${shown(args)}`,
    outcome === undefined ? '' : `, outcome ${outcome}`,
    agent === undefined ? '' : `, by ${agent}`,
    times === undefined ? '' : `, ${plural(times, 'time')}`,
  ].join('');
  return {
    pass: times === undefined ? count > 0 : count === times,
    wanted: `called ${tool}${how}`,
    found: listed('Calls', run.calls.map(agent === undefined ? callLine : callLineOf)),
  };
}

/** A person was asked. */
export function judgeAsked(
  run: TestedRun<unknown>,
  about: string | AskExpectation = {},
): Judgement {
  const question: AskExpectation = typeof about === 'string' ? { tool: about } : about;
  checkFields('An expected question', question, ASK);
  const { tool, args, kind, outcome, roles } = question;
  refuseStrangers(run, { tool });
  const fits = (ask: TestedAsk): boolean =>
    (tool === undefined || ask.tool === tool) &&
    (kind === undefined || ask.kind === kind) &&
    (outcome === undefined || ask.outcome === outcome) &&
    (args === undefined || isMatch(args, ask.args)) &&
    (roles === undefined || isSame(roles, ask.roles));
  const what = typeof about === 'string' ? about : shown(about);
  return {
    pass: run.asks.some(fits),
    wanted: `asked a person${what === '{}' ? '' : ` about ${what}`}`,
    found: listed('Questions', run.asks.map(askLine)),
  };
}

/** What the run and all below it cost. */
export function judgeCost(run: TestedRun<unknown>, cost: CostExpectation): Judgement {
  const bounds = typeof cost === 'number' ? { min: cost, max: cost } : cost;
  checkFields('An expected cost', bounds, COST);
  const { min = 0, max = Infinity } = bounds;
  const { costMicroUsd } = run;
  const wanted = min === max ? `${min}` : max === Infinity ? `${min} or more` : `${min} to ${max}`;
  return {
    pass: costMicroUsd >= min && costMicroUsd <= max,
    wanted: `cost ${wanted} micro-USD`,
    found: `Cost: ${costMicroUsd} micro-USD.`,
  };
}

export function judgeStopped(
  run: TestedRun<unknown>,
  reason: StopReason,
  detail?: string,
): Judgement {
  checkFields('An expected end', { reason, detail }, STOP);
  const is = run.detail === undefined ? run.stopReason : `${run.stopReason} (${run.detail})`;
  const isDetail = detail === undefined || run.detail === detail;
  return {
    pass: run.stopReason === reason && isDetail,
    wanted: `stopped with ${reason}${detail === undefined ? '' : ` (${detail})`}`,
    found: `Stop reason: ${is}.${run.answer === undefined ? '' : ` Answer: ${cut(run.answer)}`}`,
  };
}

function isSame(one: readonly string[], other: readonly string[]): boolean {
  return one.length === other.length && one.every((each) => other.includes(each));
}

function listed(what: string, lines: readonly string[]): string {
  if (lines.length === 0) return `${what}: none.`;
  const more = lines.length - LINES_MAX;
  const told = [...lines.slice(0, LINES_MAX), ...(more > 0 ? [`… and ${more} more`] : [])];
  return [`${what}:`, ...told.map((line) => `  ${line}`)].join('\n');
}

function callLine({ tool, args, ran, status, code }: TestedCall): string {
  return `${tool} ${shown(args)}: ${code ?? status}${ran ? '' : ', the tool was not called'}`;
}

function callLineOf(call: TestedCall): string {
  return `${call.agent}: ${callLine(call)}`;
}

function askLine({ kind, tool, args, roles, outcome }: TestedAsk): string {
  const of = roles.length === 0 ? '' : ` of ${roles.join(', ')}`;
  const about = tool === undefined ? '' : ` about ${tool} ${shown(args)}`;
  return `${kind}${of}${about}: ${outcome}`;
}

function shown(value: unknown): string {
  return cut(JSON.stringify(value, readable) ?? String(value));
}

/** JSON has no word for what an expectation may hold. */
function readable(_name: string, value: unknown): unknown {
  if (isAsymmetric(value)) return value.toAsymmetricMatcher?.() ?? value;
  return value instanceof RegExp || typeof value === 'function' ? String(value) : value;
}

function cut(text: string): string {
  return text.length <= VALUE_CHARS_MAX ? text : `${text.slice(0, VALUE_CHARS_MAX)}…`;
}
