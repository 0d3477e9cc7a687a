/** `holdfast chat`: a conversation with an agent where one types. */
import { userInfo } from 'node:os';
import type { Command } from 'commander';
import { checkStart } from '../../client/runs/check-start.js';
import type { HoldfastClient, QueryOptions } from '../../client/index.js';
import { HoldfastError } from '../../core/state/errors.js';
import type { SettingsOverrides } from '../../core/state/task.js';
import { commandHints } from '../desk/actor.js';
import { parseBudgetOptions, parseSettingOptions } from '../desk/assignments.js';
import { Conversation } from '../chat/conversation.js';
import { lineSource } from '../chat/line-source.js';
import { examples, runCommand, withPlace, type Cli, type CommonOptions } from '../command.js';
import type { Output } from '../terminal/output.js';
import { inert, inertLines, plural } from '../render/index.js';
import type { Session } from '../session.js';
import { collect, usage } from '../usage.js';

interface ChatOptions extends CommonOptions {
  readonly resume?: string;
  readonly continue?: boolean;
  readonly caller?: string;
  readonly by?: string;
  readonly role?: readonly string[];
  readonly model?: string;
  readonly budget?: readonly string[];
  readonly setting?: readonly string[];
}

const LAST_WORDS_CHARS_MAX = 1_000;
/** A signal that a parent process passes on comes at the same moment as the terminal's own. */
const SAME_SIGNAL_MS = 100;

export function addChat(program: Command, cli: Cli): void {
  const command = program
    .command('chat')
    .description(
      'Talk with an agent: its words as they come, its tools, and the questions that it needs answered. Ctrl-C interrupts, twice leaves, Ctrl-D ends the conversation. Without a terminal each line of standard input is a message.',
    )
    .argument('<agent>', 'name of an agent that a worker serves')
    .option('--resume <id>', 'go on with a kept session')
    .option('--continue', 'go on with the latest session of the caller in this folder')
    .option('--caller <name>', 'who asks; never counts as an approver')
    .option('--by <name>', 'who approves here (default: the user of this machine)')
    .option('--role <role>', 'a role of theirs; repeatable', collect)
    .option('--model <route>', "model in place of the agent's own")
    .option('--budget <name=value>', 'limit, e.g. maxCostUsd=0.5; repeatable', collect)
    .option('--setting <name=value>', 'setting; repeatable', collect);
  withPlace(command)
    .addHelpText(
      'after',
      examples(
        'holdfast chat support',
        'holdfast chat support --resume run_01J…',
        'holdfast chat refund --by mia --role refund-manager',
        "printf 'Where is order A-1?\\nThanks.\\n' | holdfast chat support",
      ),
    )
    .action((agent: string, options: ChatOptions) =>
      runCommand(cli, options, (session, output) => chat(session, output, { cli, agent, options })),
    );
}

interface ChatWanted {
  readonly cli: Cli;
  readonly agent: string;
  readonly options: ChatOptions;
}

async function chat(session: Session, output: Output, asked: ChatWanted): Promise<number> {
  const { cli, options } = asked;
  const { resume, continue: latest } = options;
  if (resume !== undefined && latest) throw usage('Give --resume or --continue, not both.');
  const start = startOf(asked);
  const client = await session.client();
  const isOpen = resume !== undefined && (await isOpenRun(client, resume));
  if (resume !== undefined && !isOpen) recall(await client.transcript(resume), output);
  const { interactive } = cli.environment;
  const input = cli.input ?? process.stdin;
  const isTerminal = interactive && cli.input === undefined;
  const interrupting = { by: (): void => undefined };
  const onInterrupt = (): void => interrupting.by();
  const lines = lineSource({
    input,
    onInterrupt,
    ...(isTerminal && { terminal: process.stdout }),
    ...(interactive && { write: output.piece }),
  });
  const talk = new Conversation({
    client,
    output,
    lines,
    hints: commandHints(cli, session),
    interactive,
    start,
    ...(resume !== undefined && (isOpen ? { openRun: resume } : { resume })),
    ...(latest && { continue: latest }),
  });
  interrupting.by = () => talk.interrupt();
  const release = onSignals(onInterrupt);
  try {
    return await talk.run();
  } finally {
    release();
    lines.close();
  }
}

/** Everything that can be wrong with the options is found before anything is asked. */
function startOf({ cli, agent, options }: ChatWanted): QueryOptions {
  const { caller, model, by, role } = options;
  const budget = parseBudgetOptions(options.budget);
  const settings: SettingsOverrides = {
    // An interrupted turn is no end of the conversation, and neither is a limit that may be raised.
    interruptMode: 'pause',
    ...(cli.environment.interactive && { onBudget: 'ask' }),
    ...parseSettingOptions(options.setting),
  };
  checkStart({ agent, task: { goal: 'chat' }, budget, settings, ...(model && { model }) });
  return {
    agent,
    budget,
    settings,
    includePartialMessages: true,
    persistSession: true,
    cwd: cli.environment.folder,
    decider: { by: by ?? userName(), ...(role !== undefined && { roles: role }) },
    ...(caller !== undefined && { caller }),
    ...(model !== undefined && { model }),
  };
}

/** A session is called like its first run unless somebody named it. */
async function isOpenRun(client: HoldfastClient, id: string): Promise<boolean> {
  try {
    return !(await client.handle(id).execution('brief')).closed;
  } catch (error) {
    if (error instanceof HoldfastError && error.code === 'RunNotFound') return false;
    throw error;
  }
}

/** Where the conversation was. */
function recall(
  { title, messages }: { title: string; messages: readonly { role: string; text?: string }[] },
  output: Output,
): void {
  output.remark(`Going on with “${inert(title)}”, ${plural(messages.length, 'message')}.`);
  const said = messages.findLast(({ role, text }) => role === 'assistant' && text !== undefined);
  if (said?.text === undefined) return;
  for (const line of inertLines(said.text, LAST_WORDS_CHARS_MAX)) {
    output.line(output.paint.dim(`│ ${line}`));
  }
}

function userName(): string {
  try {
    return userInfo().username;
  } catch {
    // No account of that number, in some containers.
    return 'chat';
  }
}

function onSignals(interrupt: () => void): () => void {
  let heardAt = Number.NEGATIVE_INFINITY;
  const heard = (): void => {
    const now = performance.now();
    if (now - heardAt > SAME_SIGNAL_MS) interrupt();
    heardAt = now;
  };
  // A terminal that is closed, or a system that shuts down, presses nothing twice.
  const end = (): void => {
    interrupt();
    interrupt();
  };
  process.on('SIGINT', heard);
  process.on('SIGTERM', end);
  process.on('SIGHUP', end);
  return () => {
    process.off('SIGINT', heard);
    process.off('SIGTERM', end);
    process.off('SIGHUP', end);
  };
}
