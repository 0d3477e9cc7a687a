/**
 * The usage of a reply, which comes from outside: what is no count of tokens was not reported.
 * Invariant: money is reckoned with non-negative integers alone, and with the bound where nothing
 * that can be reckoned with was reported of a request that left.
 */
import type { CallModelInput } from '../../core/state/effect.js';
import { NO_USAGE, type Usage } from '../../core/state/model.js';
import { isCount } from '../../core/json/count.js';
import type { ModelReply } from '../../providers/provider.js';

type Reported = Pick<ModelReply, 'usage' | 'usageSource'>;

const COUNTED: readonly (keyof Usage)[] = ['input', 'output', 'cacheRead', 'cacheWrite'];

/** What the vendor reported, or the bound. */
export function usageOf(
  { bound, maxTokens }: Pick<CallModelInput, 'bound' | 'maxTokens'>,
  reply: Reported,
): Usage {
  if (reply.usageSource === 'unsent') return NO_USAGE;
  if (reply.usageSource === 'absent' || usageDefect(reply) !== undefined) {
    return { input: bound.inputTokens, output: maxTokens, cacheRead: 0, cacheWrite: 0 };
  }
  const { input, output, cacheRead, cacheWrite } = reply.usage;
  return { input, output, cacheRead, cacheWrite };
}

/** The vendor's final numbers, all of them counts. */
export function isReported(reply: Reported): boolean {
  return reply.usageSource === 'reported' && usageDefect(reply) === undefined;
}

/** Which of the figures that were given are no counts; undefined: all are, or none was given. */
export function usageDefect({ usage, usageSource }: Reported): string | undefined {
  if (usageSource === 'absent' || usageSource === 'unsent') return undefined;
  // A provider may be anybody's code, in a language that knows no types.
  const figures: Partial<Record<keyof Usage, unknown>> | undefined = usage;
  const strange = COUNTED.filter((figure) => !isCount(figures?.[figure]));
  if (strange.length === 0) return undefined;
  return strange.map((figure) => `${figure} ${shownFigure(figures?.[figure])}`).join(', ');
}

function shownFigure(value: unknown): string {
  return typeof value === 'number' ? String(value) : typeof value;
}
