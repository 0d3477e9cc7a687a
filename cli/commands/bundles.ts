/** `holdfast bundles`: does this release decide every run of a folder as it was decided? */
import { resolve } from 'node:path';
import type { Command } from 'commander';
import type { FileReport } from '../../replay/replay-folder.js';
import {
  examples,
  runCommand,
  withJson,
  withPlace,
  type Cli,
  type CommonOptions,
} from '../command.js';
import { EXIT } from '../exit-code.js';
import { inert, inertLines, plural } from '../render/index.js';
import type { Output } from '../terminal/output.js';

const LINE_CHARS_MAX = 2_000;

export function addBundles(program: Command, cli: Cli): void {
  const command = program
    .command('bundles')
    .description(
      'Replay all bundles of a folder strictly, several at a time: Temporal’s check, and the data of every step compared with the history. Exits with 0 only if every run is equal.',
    )
    .argument('<folder>', 'folder with files that `holdfast export` wrote, at any depth');
  withJson(
    withPlace(command),
    '{folder, bundles, equal, differing: [{file, report}], unreadable: [{file, problem}]}',
  )
    .addHelpText('after', examples('holdfast bundles test/bundles'))
    .action((name: string, options: CommonOptions) =>
      runCommand(cli, options, async (_session, output) => {
        const folder = resolve(cli.environment.folder, name);
        const { bundlesIn, replayFolder } = await import('../../replay/replay-folder.js');
        const files = await bundlesIn(folder);
        const reports: FileReport[] = [];
        await replayFolder(folder, files, (report) => {
          reports.push(report);
          if (!isEqual(report)) output.remark(`${inert(report.file)} does not replay.`);
        });
        await print(name, reports, output);
        return reports.every(isEqual) ? EXIT.completed : EXIT.error;
      }),
    );
}

function isEqual(one: FileReport): boolean {
  return 'report' in one && one.report.equal;
}

async function print(folder: string, found: readonly FileReport[], output: Output): Promise<void> {
  const sorted = found.toSorted((one, other) => (one.file < other.file ? -1 : 1));
  const equal = sorted.filter(isEqual).length;
  const differing = sorted.filter((one) => 'report' in one && !one.report.equal);
  const unreadable = sorted.filter((one) => 'problem' in one);
  output.data({ folder, bundles: found.length, equal, differing, unreadable });
  if (output.json) return;
  const { reportLines } = await import('../../replay/report-text.js');
  for (const one of [...differing, ...unreadable]) {
    output.line(inert(one.file));
    const lines = 'report' in one ? reportLines(one.report) : [one.problem];
    for (const line of lines.flatMap((text) => inertLines(text, LINE_CHARS_MAX))) {
      output.line(`  ${line}`);
    }
    output.line('');
  }
  const problems = `${differing.length} differ, ${unreadable.length} cannot be read`;
  output.line(`${plural(found.length, 'bundle')}: ${equal} replay exactly, ${problems}.`);
}
