/** `holdfast transcript`: a conversation, to read or to keep. */
import { Option, type Command } from 'commander';
import { transcriptMarkdown } from '../../client/index.js';
import { headOf, readTranscript, type Transcript } from '../../client/read/transcript.js';
import {
  subAgentTranscripts,
  type SubAgentTranscripts,
} from '../../client/read/tree-transcript.js';
import {
  readingDeskOf,
  tenantOf,
  withDesk,
  withTenant,
  type DeskOptions,
  type TenantOptions,
} from '../desk/actor.js';
import { examples, runCommand, withPlace, type Cli } from '../command.js';
import { exactJson, inertText } from '../render/index.js';
import type { DeskApi } from '../desk/desk-api.js';
import { asMissingRun } from '../desk/run-at-desk.js';
import { neededStore, type Session } from '../session.js';

interface TranscriptOptions extends DeskOptions, TenantOptions {
  readonly format: 'md' | 'json';
  readonly tree: boolean;
}

export function addTranscript(program: Command, cli: Cli): void {
  const command = program
    .command('transcript')
    .description(
      'Print the conversation of a session or of a run, without what was taken back; those of its sub-agents behind the calls that started them. Of a run under way: what is stored so far. Over the desk: of runs that have ended.',
    )
    .argument('<id>', 'id of a session or of a run')
    .addOption(
      new Option('--format <format>', 'Markdown, or JSON with the id of every message')
        .choices(['md', 'json'])
        .default('md'),
    )
    .option('--no-tree', 'without the conversations of its sub-agents')
    .option('--json', 'the same as --format json, on one line');
  withPlace(withDesk(withTenant(command)))
    .addHelpText(
      'after',
      examples(
        'holdfast transcript run_01J… > conversation.md',
        "holdfast transcript run_01J… --format json | jq '.messages[].messageId'",
        "holdfast start support 'Try another way' --resume run_01J… --fork-at run_01J…:m3",
      ),
    )
    .action((id: string, options: TranscriptOptions) =>
      runCommand(cli, options, async (session, output) => {
        const api = readingDeskOf(cli, options);
        const { transcript, below } =
          api === undefined
            ? await fromStore(session, { tenant: tenantOf(options), id }, options)
            : await fromDesk(api, id, options);
        const whole = below === undefined ? transcript : { ...transcript, ...below };
        output.data(whole);
        output.line(
          options.format === 'json'
            ? exactJson(whole, 2)
            : inertText(transcriptMarkdown(transcript, below)).trimEnd(),
        );
      }),
    );
}

async function fromDesk(api: DeskApi, id: string, { tree }: Pick<TranscriptOptions, 'tree'>) {
  const path = `/v1/runs/${encodeURIComponent(id)}/transcript${tree ? '?tree=true' : ''}`;
  const told = await api.get(path).catch(asMissingRun(id));
  const { subAgents, leftOut, ...transcript } = told as unknown as Transcript &
    Partial<SubAgentTranscripts>;
  const isTree = subAgents !== undefined && subAgents.length > 0;
  const below = isTree ? { subAgents, ...(leftOut && { leftOut }) } : undefined;
  return { transcript: transcript as Transcript, below };
}

async function fromStore(
  session: Session,
  name: { readonly tenant: string; readonly id: string },
  { tree }: Pick<TranscriptOptions, 'tree'>,
) {
  const store = await neededStore(session);
  const headOfOpenRun = async (runId: string): Promise<string | undefined> => {
    const client = await session.tryClient();
    return client && headOf(client.forTenant(name.tenant).handle(runId));
  };
  const transcript = await readTranscript(store, name, headOfOpenRun);
  if (!tree || transcript.kind !== 'run') return { transcript, below: undefined };
  const found = await subAgentTranscripts(store, name, headOfOpenRun);
  // Most runs have none.
  return { transcript, below: found.subAgents.length === 0 ? undefined : found };
}
