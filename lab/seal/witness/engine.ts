/** Stands in for core/loop/engine.ts in a replay: tells what is received and which rules fire. */
import { advance as decide, receive as take, type Decided } from '../../../core/loop/engine.js';
import type { Input } from '../../../core/state/input.js';
import type { Run } from '../../../core/state/run.js';
import { sawInput, sawRules } from './seen.js';

export function advance(run: Run): Decided {
  const decided = decide(run);
  sawRules(decided.rules);
  return decided;
}

export function receive(run: Run, input: Input): Run {
  sawInput(input.type);
  return take(run, input);
}
