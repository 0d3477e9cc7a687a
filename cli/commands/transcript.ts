/** `holdfast transcript`: a conversation, to read or to keep. */
import { Option, type Command } from 'commander';
import { transcriptMarkdown } from '../../client/index.js';
import { headOf, readTranscript, type Transcript } from '../../client/read/transcript.js';
import { storeOf } from '../../client/link.js';
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
import { asMissingRun } from '../desk/run-at-desk.js';
import type { Session } from '../session.js';

interface TranscriptOptions extends DeskOptions, TenantOptions {
  readonly format: 'md' | 'json';
}

export function addTranscript(program: Command, cli: Cli): void {
  const command = program
    .command('transcript')
    .description(
      'Print the conversation of a session or of a run, without what was taken back. Of a run under way: what is stored so far. Over the desk: of runs that have ended.',
    )
    .argument('<id>', 'id of a session or of a run')
    .addOption(
      new Option('--format <format>', 'Markdown, or JSON with the id of every message')
        .choices(['md', 'json'])
        .default('md'),
    )
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
        const path = `/v1/runs/${encodeURIComponent(id)}/transcript`;
        const transcript =
          api === undefined
            ? await fromStore(session, tenantOf(options), id)
            : ((await api.get(path).catch(asMissingRun(id))) as unknown as Transcript);
        output.data(transcript);
        output.line(
          options.format === 'json'
            ? exactJson(transcript, 2)
            : inertText(transcriptMarkdown(transcript)).trimEnd(),
        );
      }),
    );
}

async function fromStore(session: Session, tenant: string, id: string): Promise<Transcript> {
  const store = storeOf({ store: await session.store() });
  return readTranscript(store, { tenant, id }, async (runId) => {
    const client = await session.tryClient();
    return client && headOf(client.forTenant(tenant).handle(runId));
  });
}
