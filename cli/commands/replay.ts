/** `holdfast replay`: does this release decide a recorded run as it was decided? */
import type { Command } from 'commander';
import type { HoldfastError } from '../../core/state/errors.js';
import type { Bundle } from '../../replay/bundle.js';
import type { ReplayableTree, TreeReport } from '../../replay/replay-tree.js';
import {
  examples,
  runCommand,
  withJson,
  withPlace,
  type Cli,
  type CommonOptions,
} from '../command.js';
import { EXIT } from '../exit-code.js';
import { inertLines } from '../render/index.js';
import type { Output } from '../terminal/output.js';
import { fileOf, oneRecordedOf, recordedOf } from '../desk/recorded.js';
import type { Session } from '../session.js';
import { usage } from '../usage.js';

const LINE_CHARS_MAX = 2_000;

interface ReplayOptions extends CommonOptions {
  readonly agent?: string;
  readonly alone?: boolean;
}

function agentOfNothing(): HoldfastError {
  return usage(
    '--agent names an agent of a configuration.',
    'Name the configuration with --config.',
  );
}

export function addReplay(program: Command, cli: Cli): void {
  const command = program
    .command('replay')
    .description(
      'Replay a run, with the runs below it, with the workflow code of this release: Temporal’s check, and the data of every step compared with the history. A file needs no server and no store. Exits with 0 only if everything is equal, with 1 at a difference.',
    )
    .argument('<file-or-run>', 'a bundle that `holdfast export` wrote, or a run id');
  command
    .option(
      '--config <file>',
      'decide the same calls by schemas, policy and limits of this configuration, and tell what comes out otherwise',
    )
    .option('--agent <name>', 'with --config: which agent (default: the name of the recorded one)');
  command.option('--alone', 'the run by itself, without its sub-agents or cycles');
  withJson(
    withPlace(command),
    '{runId, segments, steps, open, equal, error, differences, members?: [{runId, …}]}; with --config {runId, equal, decisions, was, now}',
  )
    .addHelpText(
      'after',
      examples(
        'holdfast replay failure.json',
        'holdfast replay run_01J… --json',
        'holdfast replay failure.json --config holdfast.config.ts',
      ),
    )
    .action((subject: string, options: ReplayOptions) =>
      runCommand(cli, options, async (session, output) => {
        if (options.config !== undefined) {
          const { replayOnConfig } = await import('./replay-on-config.js');
          const { bundle } = await oneRecordedOf(cli, session, { subject });
          return replayOnConfig(bundle, { ...options, folder: cli.environment.folder }, output);
        }
        if (options.agent !== undefined) throw agentOfNothing();
        const { replayTree } = await import('../../replay/replay-tree.js');
        const tree = await treeOf(cli, session, { subject, alone: options.alone === true });
        const report = await replayTree(tree);
        await print(report, output);
        return report.equal ? EXIT.completed : EXIT.error;
      }),
    );
}

interface Replaying {
  readonly subject: string;
  readonly alone: boolean;
}

async function treeOf(
  cli: Cli,
  session: Session,
  { subject, alone }: Replaying,
): Promise<Bundle | ReplayableTree> {
  if (alone) {
    const { aloneOf } = await import('../../replay/tree.js');
    const { bundle } = await oneRecordedOf(cli, session, { subject });
    return aloneOf(bundle, bundle);
  }
  const file = fileOf(cli, subject);
  if (file === undefined) return (await recordedOf(cli, session, subject)).bundle;
  // However large the file is, one of its histories is held at a time.
  const { replayableFile } = await import('../../replay/stream/bundle-file.js');
  return replayableFile(file);
}

async function print(report: TreeReport, output: Output): Promise<void> {
  output.data(report);
  if (output.json) return;
  const { reportLines } = await import('../../replay/report-text.js');
  for (const line of reportLines(report)) {
    for (const clean of inertLines(line, LINE_CHARS_MAX)) output.line(clean);
  }
}
