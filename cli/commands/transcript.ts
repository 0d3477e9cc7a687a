/** `holdfast transcript`: a conversation, to read or to keep. */
import { Option, type Command } from 'commander';
import { transcriptMarkdown } from '../../client/index.js';
import { readTranscript, storeOf } from '../../client/transcript.js';
import { examples, runCommand, withPlace, type Cli, type CommonOptions } from '../command.js';
import { exactJson, inertText } from '../render/index.js';
import { TENANT } from '../run-record.js';

interface TranscriptOptions extends CommonOptions {
  readonly format: 'md' | 'json';
}

export function addTranscript(program: Command, cli: Cli): void {
  const command = program
    .command('transcript')
    .description(
      'Print the conversation of a session, or of a run that has ended, without what was taken back.',
    )
    .argument('<id>', 'id of a session or of a run')
    .addOption(
      new Option('--format <format>', 'Markdown, or JSON with the id of every message')
        .choices(['md', 'json'])
        .default('md'),
    )
    .option('--json', 'the same as --format json, on one line');
  withPlace(command)
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
        const store = storeOf({ store: await session.store() });
        const transcript = await readTranscript(store, TENANT, id);
        output.data(transcript);
        output.line(
          options.format === 'json'
            ? exactJson(transcript, 2)
            : inertText(transcriptMarkdown(transcript)).trimEnd(),
        );
      }),
    );
}
