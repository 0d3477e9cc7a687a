/** `holdfast export`: a run and the runs below it in one file, from which they can be replayed anywhere. */
import { resolve } from 'node:path';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import type { Command } from 'commander';
import { HoldfastError } from '../../core/state/errors.js';
import type { Bundle } from '../../replay/bundle.js';
import type { RedactionRule } from '../../replay/redaction/rules.js';
import {
  examples,
  runCommand,
  withJson,
  withPlace,
  type Cli,
  type CommonOptions,
} from '../command.js';
import type { CliEnvironment } from '../environment.js';
import { writeNewFile } from '../new-file.js';
import { inert } from '../render/index.js';
import type { Session } from '../session.js';
import { TENANT } from '../desk/run-record.js';
import type { Output } from '../terminal/output.js';
import { usage } from '../usage.js';

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
--allow-unmatched says that the run need not have what the rules look for. See docs/guide/replay.md.`;

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
        const exported = await bundleOf(session, runId, { alone: options.alone === true });
        const bundle = await redacted(exported, rules, allowUnmatched);
        await refuseSecretsOf(bundle, cli.environment.variables);
        await write(bundle, resolve(folder, options.output ?? fileNameOf(runId)), output);
      }),
    );
}

/** The bundle of a run that a server holds; alone, or with all runs below it. */
export async function bundleOf(
  session: Session,
  runId: string,
  { alone }: { readonly alone: boolean },
): Promise<Bundle> {
  const store = await session.wholeStore();
  if (store === undefined) {
    throw new HoldfastError('StoreUnavailable', 'There is no store to read the run from.', {
      hint: 'Set HOLDFAST_STORE to the store of the workers, or pass --store.',
    });
  }
  const reach = await session.reach();
  const { exportRun, exportTree } = await import('../../replay/export-run.js');
  return (alone ? exportRun : exportTree)({ ...reach, store }, { tenant: TENANT, runId });
}

export async function rulesIn(file: string): Promise<readonly RedactionRule[]> {
  const { readRules } = await import('../../replay/redaction/rules.js');
  return readRules(file);
}

export async function redacted(
  bundle: Bundle,
  rules: readonly RedactionRule[] | undefined,
  allowUnmatched: boolean,
): Promise<Bundle> {
  if (rules === undefined) return bundle;
  const { redactBundle } = await import('../../replay/redaction/redact-bundle.js');
  return redactBundle(bundle, rules, { allowUnmatched });
}

/** Errors: `RedactionRefused`, which names the variable and never its value. */
export async function refuseSecretsOf(
  bundle: Bundle,
  variables: CliEnvironment['variables'],
): Promise<void> {
  const { documentsOf } = await import('../../replay/redaction/documents.js');
  const { secretIn } = await import('../../pure/secret-values.js');
  const name = secretIn(JSON.stringify(documentsOf(bundle)), variables);
  if (name === undefined) return;
  throw new HoldfastError(
    'RedactionRefused',
    `No bundle is written: the run has seen the value of the variable ${name}.`,
    { hint: 'Hide the value with --redact, and change the secret.' },
  );
}

export function nothingToMatch(): HoldfastError {
  return usage(
    '--allow-unmatched is about the rules of --redact.',
    'Name them with --redact FILE.',
  );
}

async function write(bundle: Bundle, file: string, output: Output): Promise<void> {
  const { BUNDLE_BYTES_MAX, bundleText } = await import('../../replay/bundle.js');
  const text = bundleText(bundle);
  const bytes = Buffer.byteLength(text);
  if (bytes > BUNDLE_BYTES_MAX) {
    throw new HoldfastError('InvalidBundle', `The bundle would have ${bytes} bytes.`, {
      hint: `A bundle has at most ${BUNDLE_BYTES_MAX} bytes.`,
    });
  }
  // Never over another file: a bundle may be the only copy of its run.
  const content = file.endsWith('.gz') ? await promisify(gzip)(text, { level: 9 }) : text;
  await writeNewFile(content, { file, what: 'bundle' });
  report(bundle, { file, bytes: Buffer.byteLength(content) }, output);
}

function report(
  bundle: Bundle,
  { file, bytes }: { readonly file: string; readonly bytes: number },
  output: Output,
): void {
  const { run, segments, events, nodes, blobs, redactions, members = [], absent = [] } = bundle;
  output.data({
    runId: run.runId,
    file,
    bytes,
    segments: segments.length,
    events: events.length,
    nodes: Object.keys(nodes).length,
    blobs: Object.keys(blobs).length,
    redactions: redactions.map(({ rule, count }) => ({ rule, count })),
    members: members.map((member) => member.run.runId),
    absent,
  });
  const archived = segments.filter(({ source }) => source === 'store').length;
  const from = archived === 0 ? '' : `, ${archived} of them from the store's archive`;
  output.line(`${run.runId}: ${segments.length} segment(s)${from}, ${bytes} bytes in ${file}`);
  if (members.length > 0) output.line(`  with ${members.length} run(s) below it`);
  for (const { runId, reason } of absent)
    output.remark(`${runId} is not in it: ${inert(reason, 400)}`);
  for (const { rule, count } of redactions) output.line(`  ${rule}: ${count} place(s) hidden`);
  if (redactions.length > 0) {
    const what = members.length > 0 ? 'All runs of the redacted tree have' : 'The redacted run has';
    output.line(`  ${what} replayed exactly.`);
  }
}

/** Run ids may hold colons, which some file systems do not take. */
export function fileNameOf(runId: string, kind: 'bundle' | 'case' = 'bundle'): string {
  return `${runId.replaceAll(/[^A-Za-z0-9._-]/g, '-').slice(0, 150)}.${kind}.json`;
}
