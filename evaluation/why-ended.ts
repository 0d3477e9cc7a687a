/** Which rule ended the run of a case, and why: for whoever reads that a case has failed. */
import type { RunEvent } from '../core/state/event.js';
import { SCRIPT_EXHAUSTED } from './script.js';
import { explainRun, sentenceOfRule, type Explanation } from '../pure/explain.js';

const TEXT_CHARS_MAX = 400;

export interface WhyEnded {
  /** How it stopped, in words. */
  readonly stopped: string;
  /** The rule that ended it, with its sentence; before rules 15 the one that decided last. Absent: no event names one. */
  readonly rule?: string;
  /** The last word against a call: a refusal, a denial, a rejection. */
  readonly against?: string;
}

/** What a case has to have where the run goes on behind what was recorded. */
const NO_REPLY = ': `model` of the case has no further reply';

/** The rule that tells of an end: what decided on it stands before. */
const TELLS = 'close';

export function whyEnded(events: readonly RunEvent[]): WhyEnded | undefined {
  const end = events.findLastIndex(({ type }) => type === 'stop');
  const [stopped] = explainRun(events.slice(end, end + 1));
  if (end < 0 || stopped === undefined) return undefined;
  const decided = namedBy(events[end]!) ?? lastBefore(events.slice(0, end));
  const [against] = explainRun(events.slice(0, end).filter(isAgainst).slice(-1));
  const more = events.some(isExhausted) ? NO_REPLY : '';
  return {
    stopped: `${stopped.words}${more}`.slice(0, TEXT_CHARS_MAX),
    ...(decided?.rule !== undefined && {
      rule: [decided.rule, decided.says].filter(Boolean).join(': ').slice(0, TEXT_CHARS_MAX),
    }),
    ...(against !== undefined && { against: against.words.slice(0, TEXT_CHARS_MAX) }),
  };
}

function isExhausted(event: RunEvent): boolean {
  return event.type === 'run_result' && event.result.nextSafeAction === SCRIPT_EXHAUSTED;
}

/** From rules 15 on the event says it. */
function namedBy(stop: RunEvent): Pick<Explanation, 'rule' | 'says'> | undefined {
  if (stop.type !== 'stop' || stop.by === undefined) return undefined;
  const says = sentenceOfRule(stop.by);
  return { rule: stop.by, ...(says !== undefined && { says }) };
}

function lastBefore(events: readonly RunEvent[]): Explanation | undefined {
  return explainRun(events).findLast(({ rule }) => rule !== undefined && rule !== TELLS);
}

function isAgainst(event: RunEvent): boolean {
  switch (event.type) {
    case 'permission':
      return event.decision === 'deny';
    case 'validation':
      return event.decision === 'deny';
    case 'approval_resolved':
      return event.outcome !== 'approved';
    case 'tool_finished':
      return event.status === 'error';
    default:
      return false;
  }
}
