/** What a history covers, and which of many are worth keeping. */
import { GOAL_RULE_LISTS } from '../../core/goal/rules.js';
import type { Bundle } from '../../replay/bundle.js';
import { argumentsOf, at, attributesOf } from '../../recording/history.js';
import { OF_GOAL, type Seen } from './witness/seen.js';

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

/** Everything that the activations of a run or goal cover. */
export function coverageOf(activations: readonly Seen[], bundle: Bundle): ReadonlySet<string> {
  const covered = new Set<string>(endsOfGoal(bundle));
  const cycle = isCycle(bundle) ? 'cycle: ' : undefined;
  for (const seen of activations) {
    for (const rule of seen.rules) {
      covered.add(`rule ${rule}`);
      if (cycle !== undefined) covered.add(`rule ${cycle}${rule}`);
    }
    for (const change of seen.asked) covered.add(`asked ${change}`);
    for (const pair of pairsOf(seen.inputs)) covered.add(`together ${pair}`);
  }
  return covered;
}

/** Rules that hold and never fire: no replay tells of them. */
const ONLY_HOLD: readonly string[] = ['await people'];

/** Rules of goals that none of these histories has. */
export function goalRulesBeyond(covered: ReadonlySet<string>): readonly string[] {
  const names = GOAL_RULE_LISTS.flatMap(({ rules }) => rules.map(({ name }): string => name));
  const firing = names.filter((name) => !ONLY_HOLD.includes(name));
  return firing.filter((name) => !covered.has(`rule ${OF_GOAL}${name}`));
}

/** A run that a goal has started. */
function isCycle({ segments }: Bundle): boolean {
  const started = attributesOf(segments[0]?.events[0], 'workflowExecutionStarted');
  const [input] = argumentsOf(at(started, 'input'));
  return at(input, 'parent') !== undefined;
}

export function isGoal({ segments }: Bundle): boolean {
  const started = attributesOf(segments[0]?.events[0], 'workflowExecutionStarted');
  return at(started, 'workflowType', 'name') === 'goalRun';
}

/** Which row ended it. */
function endsOfGoal({ events }: Bundle): readonly string[] {
  return events.flatMap((event) =>
    event.type === 'goal_result'
      ? [`goal ends ${event.result.stopReason} ${event.result.detail ?? ''}`.trim()]
      : [],
  );
}

function pairsOf(inputs: readonly string[]): readonly string[] {
  const sorted = inputs.toSorted();
  return sorted.flatMap((one, index) => sorted.slice(index + 1).map((two) => `${one} + ${two}`));
}
