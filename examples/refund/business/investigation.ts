/**
 * What the investigating agent answered, read defensively: the words of a model are input from outside.
 * Safe in a workflow: plain code, no schema library.
 */
import type { RunResult } from '../../../workflows/index.js';

export interface Investigation {
  readonly supported: boolean;
  readonly amountCents: number;
  readonly reason: string;
}

const REASON_CHARS_MAX = 500;

/** Whatever is not a clear recommendation for this order is no support. */
export function readInvestigation(result: RunResult, orderId: string): Investigation {
  if (!result.completed) {
    return unsupported(`The investigation stopped: ${result.stopReason}.`);
  }
  const answer = result.answer;
  if (answer === undefined || !('text' in answer)) {
    return unsupported('The investigation gave no short answer.');
  }
  const found = parseObject(answer.text);
  if (found === undefined) return unsupported('The investigation gave no JSON object.');
  const { supported, amountCents, reason } = found;
  if (found.orderId !== orderId) return unsupported('The investigation is about another order.');
  const why = typeof reason === 'string' ? reason.slice(0, REASON_CHARS_MAX) : 'no reason given';
  if (supported !== true) return unsupported(why);
  if (typeof amountCents !== 'number' || !Number.isSafeInteger(amountCents) || amountCents <= 0) {
    return unsupported('The investigation names no amount to refund.');
  }
  return { supported: true, amountCents, reason: why };
}

function unsupported(reason: string): Investigation {
  return { supported: false, amountCents: 0, reason };
}

interface Found {
  readonly supported?: unknown;
  readonly orderId?: unknown;
  readonly amountCents?: unknown;
  readonly reason?: unknown;
}

/** The outermost braces: models like to wrap JSON into words or a code fence. */
function parseObject(text: string): Found | undefined {
  const from = text.indexOf('{');
  const to = text.lastIndexOf('}');
  if (from < 0 || to < from) return undefined;
  try {
    return JSON.parse(text.slice(from, to + 1)) as Found;
  } catch {
    return undefined;
  }
}
