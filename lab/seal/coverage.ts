/** What a history covers, and which of many are worth keeping. */
import type { Seen } from './witness/seen.js';

/** What comes from a person or another program. */
const SIGNALS: ReadonlySet<string> = new Set([
  'decision',
  'input_provided',
  'user_message',
  'interrupt',
  'cancel_requested',
  'close',
  'set_model',
  'set_permission_mode',
  'set_max_thinking_tokens',
  'input_rejected',
]);

/** A signal was received together with something that is none. */
export function isMixed({ inputs }: Seen): boolean {
  return inputs.some((type) => SIGNALS.has(type)) && inputs.some((type) => !SIGNALS.has(type));
}

/** Everything that the activations of a run cover. */
export function coverageOf(activations: readonly Seen[]): ReadonlySet<string> {
  const covered = new Set<string>();
  for (const seen of activations) {
    for (const rule of seen.rules) covered.add(`rule ${rule}`);
    for (const change of seen.asked) covered.add(`asked ${change}`);
    for (const pair of pairsOf(seen.inputs)) covered.add(`together ${pair}`);
  }
  return covered;
}

function pairsOf(inputs: readonly string[]): readonly string[] {
  const sorted = inputs.toSorted();
  return sorted.flatMap((one, index) => sorted.slice(index + 1).map((two) => `${one} + ${two}`));
}
