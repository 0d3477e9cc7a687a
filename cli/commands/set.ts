/** `holdfast set`: changes what a run does from its next request on. */
import type { Command } from 'commander';
import type { RunHandle } from '../../client/index.js';
import { THINKING_TOKENS_MAX } from '../../core/messages/parse-message.js';
import {
  examples,
  runCommand,
  withJson,
  withPlace,
  type Cli,
  type CommonOptions,
} from '../command.js';
import { shellWord } from '../render/index.js';
import { usage, wholeNumber } from '../usage.js';

interface SetOptions extends CommonOptions {
  readonly model?: string;
  readonly maxThinkingTokens?: number | 'default';
}

export function addSet(program: Command, cli: Cli): void {
  const command = program
    .command('set')
    .description('Change the model of a run, or how much it may think, from its next request on.')
    .argument('<run>', 'run id')
    .option('--model <name>', 'provider/model, as in the configuration')
    .option(
      '--max-thinking-tokens <n>',
      "0 for no thinking, 'default' for the model's own",
      thinkingTokens,
    );
  withJson(withPlace(command), '{runId, asked}')
    .addHelpText('after', examples('holdfast set run_01J… --model anthropic/claude-opus-5'))
    .action((runId: string, options: SetOptions) =>
      runCommand(cli, options, async (session, output) => {
        const { model, maxThinkingTokens } = options;
        if (model === undefined && maxThinkingTokens === undefined) {
          throw usage('Nothing to set.', 'Give --model, --max-thinking-tokens or both.');
        }
        await apply((await session.client()).handle(runId), options);
        output.data({ runId, asked: { model, maxThinkingTokens } });
        output.line(
          `Asked to change. The run’s events tell whether the change counts: holdfast watch ${shellWord(runId)}`,
        );
      }),
    );
}

async function apply(run: RunHandle, { model, maxThinkingTokens }: SetOptions): Promise<void> {
  if (model !== undefined) await run.setModel(model);
  if (maxThinkingTokens === undefined) return;
  await run.setMaxThinkingTokens(maxThinkingTokens === 'default' ? null : maxThinkingTokens);
}

function thinkingTokens(text: string): number | 'default' {
  return text === 'default'
    ? text
    : wholeNumber('--max-thinking-tokens', [0, THINKING_TOKENS_MAX])(text);
}
