/** `holdfast export`: a run and the runs below it in one file, from which they can be replayed anywhere. */
import { resolve } from 'node:path';
import type { Command } from 'commander';
import type { HoldfastError } from '../../core/state/errors.js';
import type { RedactionRule } from '../../replay/redaction/rules.js';
import {
  examples,
  runCommand,
  withJson,
  withPlace,
  type Cli,
  type CommonOptions,
} from '../command.js';
import { checkNewFile } from '../new-file.js';
import { inert, plural } from '../render/index.js';
import type { Output } from '../terminal/output.js';
import { usage } from '../usage.js';
import { BUNDLE, writeExport, type Written } from './export-file.js';

interface ExportOptions extends CommonOptions {
  readonly output?: string;
  readonly redact?: string;
  readonly allowUnmatched?: boolean;
  readonly alone?: boolean;
}

const REDACTION_HELP = `
Redaction: --redact names a JSON file {"rules": [...]} whose rules are
  {"name": "mail", "key": "email"}                 texts under this name, at any depth
  {"name": "card", "pointer": "/call/args/card"}   texts at this JSON pointer of a recorded value
  {"name": "iban", "regex": "DE\\\\d{20}"}            what this pattern matches ("flags": imsu)
A key finds data, not what the JSON Schemas of tools and answers declare under that name.
Every occurrence of such a text becomes one marker of the same length; the redacted run has replayed
exactly, or no file is written. Nor is one when a rule finds nothing, which is mostly a slip of the pen:
--allow-unmatched says that the run need not have what the rules look for. See docs/guide/replay.md in the package holdfast.`;

export function addExport(program: Command, cli: Cli): void {
  const command = program
    .command('export')
    .description(
      'Write a run, with its sub-agents or cycles, into one file: histories, conversations, events, versions. The file holds everything that these runs have seen; --redact hides texts.',
    )
    .argument('<run>', 'run id')
    .option(
      '-o, --output <file>',
      'where to (default RUN.bundle.json in the working directory); a name that ends with .gz is packed',
    )
    .option('--alone', 'the run by itself, without its sub-agents or cycles')
    .option('--redact <file>', 'rules for texts to hide')
    .option('--allow-unmatched', 'write the file also when a rule of --redact finds nothing');
  withJson(
    withPlace(command),
    '{runId, file, bytes, segments, events, nodes, blobs, redactions, members: [runId], absent: [{runId, parent, reason}]}',
  )
    .addHelpText(
      'after',
      `${REDACTION_HELP}\n${examples(
        'holdfast export run_01J…',
        'holdfast export run_01J… -o failure.json --redact rules.json',
      )}`,
    )
    .action((runId: string, options: ExportOptions) =>
      runCommand(cli, options, async (session, output) => {
        const { folder } = cli.environment;
        // Rules that cannot be used are said before the run is read.
        const rules =
          options.redact === undefined ? undefined : await rulesIn(resolve(folder, options.redact));
        const { allowUnmatched = false } = options;
        if (allowUnmatched && rules === undefined) throw nothingToMatch();
        const file = resolve(folder, options.output ?? fileNameOf(runId));
        await checkNewFile({ file, what: BUNDLE });
        const { variables } = cli.environment;
        const hiding = rules === undefined ? undefined : { rules, allowUnmatched };
        const wanted = { runId, alone: options.alone === true, hiding };
        const written = await writeExport(session, wanted, { file, variables });
        report(written, output);
      }),
    );
}

export async function rulesIn(file: string): Promise<readonly RedactionRule[]> {
  const { readRules } = await import('../../replay/redaction/rules.js');
  return readRules(file);
}

export function nothingToMatch(): HoldfastError {
  return usage(
    '--allow-unmatched is about the rules of --redact.',
    'Name them with --redact FILE.',
  );
}

function report({ file, bytes, source, ...counts }: Written, output: Output): void {
  const { run, segments, members = [], absent = [] } = source;
  const redactions = source.redactions.map(({ rule, count }) => ({ rule, count }));
  output.data({
    runId: run.runId,
    file,
    bytes,
    segments: segments.length,
    ...counts,
    redactions,
    members: members.map((member) => member.run.runId),
    absent,
  });
  const archived = segments.filter((segment) => segment.source === 'store').length;
  const from = archived === 0 ? '' : `, ${archived} of them from the store's archive`;
  output.line(
    `${run.runId}: ${plural(segments.length, 'segment')}${from}, ${bytes} bytes in ${file}`,
  );
  if (members.length > 0) output.line(`  with ${plural(members.length, 'run')} below it`);
  for (const { runId, reason } of absent)
    output.remark(`${runId} is not in it: ${inert(reason, 400)}`);
  for (const { rule, count } of redactions)
    output.line(`  ${rule}: ${plural(count, 'place')} hidden`);
  if (redactions.length > 0) {
    const what = members.length > 0 ? 'All runs of the redacted tree have' : 'The redacted run has';
    output.line(`  ${what} replayed exactly.`);
  }
}

/** Run ids may hold colons, which some file systems do not take. */
export function fileNameOf(runId: string, kind: 'bundle' | 'case' = 'bundle'): string {
  return `${runId.replaceAll(/[^A-Za-z0-9._-]/g, '-').slice(0, 150)}.${kind}.json`;
}
