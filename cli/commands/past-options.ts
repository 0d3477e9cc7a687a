/** Options of `holdfast eval` for recorded runs. */
import type { Command } from 'commander';
import { oneOf, usage, wholeNumber } from '../usage.js';

const STEP_MAX = 10_000_000;

export interface PastOptions {
  readonly from?: string;
  readonly model?: string;
  readonly config?: string;
  readonly agent?: string;
  readonly at?: number;
  readonly unmatched?: 'refuse' | 'stop';
  readonly gate?: string;
  readonly json?: string;
  readonly markdown?: string;
  readonly junit?: string;
}

export const PAST_HELP = `
With --from recorded runs are played once more, each from its start: the model is asked in earnest, tools and people
answer from the record by name and arguments, and no tool's code runs. A question that was never recorded is told; with
--unmatched stop (the default) the run ends there, with refuse the model hears that there is no answer.
FOLDER has bundles that \`holdfast export\` wrote. A QUERY has conditions of \`holdfast list\`: "agent=refund since=7d".
--gate names a JSON file with the rules of a regression; without one: no new effect, no run less that completes, no
call more that is denied or invalid. Exits with 1 on a regression.`;

export function withPast(command: Command): Command {
  return command
    .option('--from <folder-or-query>', 'play recorded runs once more instead of cases')
    .option('--model <name>', 'with --from: the model that is asked')
    .option(
      '--config <file>',
      'with --from: prompt, tools, policy and limits of this configuration',
    )
    .option('--agent <name>', 'with --config: which agent (default: the name of the recorded one)')
    .option('--at <step>', 'with --from: as recorded up to this step', stepNumber)
    .option(
      '--unmatched <way>',
      'with --from: refuse or stop (default stop)',
      oneOf('way', ['refuse', 'stop']),
    )
    .option('--gate <file>', 'with --from: what counts as a regression')
    .option('--markdown <file>', 'with --from: write the report there as Markdown')
    .option('--junit <file>', 'with --from: write the report there as JUnit XML');
}

function stepNumber(text: string): number {
  return wholeNumber('--at', [1, STEP_MAX])(text);
}

/** Options that mean nothing without recorded runs. */
export function refuseOfPast(options: PastOptions): void {
  const names = [
    'model',
    'config',
    'agent',
    'at',
    'unmatched',
    'gate',
    'markdown',
    'junit',
  ] as const;
  const given = names.find((name) => options[name] !== undefined);
  if (given === undefined) return;
  throw usage(
    `--${given} is for recorded runs.`,
    'Name a folder of bundles or a query with --from.',
  );
}
