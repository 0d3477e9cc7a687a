/** The end of a goal: what held and by what evidence, what it cost, where to look. */
import type { RunResult } from '../../index.js';
import { goalResultLines, usdText } from '../../cli/render/index.js';
import { EXIT } from '../../cli/exit-code.js';
import type { Model } from './model.js';
import type { Terminal } from './terminal.js';

/** Prints the report; gives the exit code: 0 done, 3 ended without being done. */
export function reportGoal(
  terminal: Terminal,
  { result, model }: { readonly result: RunResult; readonly model: Model },
): number {
  const { paint } = terminal;
  terminal.say();
  for (const line of goalResultLines(result, paint)) terminal.say(line);
  const { modelCalls, toolCalls } = result.counters;
  const note = model.name === 'scripted' ? ' (list prices; a scripted model bills nothing)' : '';
  const work = `${modelCalls} model calls, ${toolCalls} tool calls`;
  terminal.say(`Spent ${usdText(result.costMicroUsd)}${note}: ${work}`);
  return result.completed ? EXIT.completed : EXIT.stopped;
}
