/** `holdfast start`: starts a run and, unless told otherwise, waits for how it ends. */
import type { Command } from 'commander';
import { commandHints } from '../desk/actor.js';
import { parseBudgetOptions, parseSettingOptions } from '../desk/assignments.js';
import { checkStart } from '../../client/runs/check-start.js';
import type { RunHandle, SessionOptions } from '../../client/index.js';
import type { StartedAgents } from '../../core/state/started-agent.js';
import { parseJsonText } from '../../pure/json-text.js';
import { checkRunId } from '../../client/runs/run-id.js';
import {
  examples,
  runCommand,
  withJson,
  withPlace,
  type Cli,
  type CommonOptions,
} from '../command.js';
import { awaitOutcome, followEvents } from '../terminal/follow.js';
import { heldUpRemarks } from '../terminal/held-up.js';
import type { Output } from '../terminal/output.js';
import type { Session } from '../session.js';
import { shellWord } from '../render/index.js';
import { readTaskInput } from '../terminal/task-input.js';
import { attachedPaths } from '../terminal/attached-paths.js';
import { collect, usage } from '../usage.js';

interface StartOptions extends CommonOptions {
  readonly file?: string;
  readonly runId?: string;
  readonly attach?: readonly string[];
  readonly caller?: string;
  readonly model?: string;
  readonly agents?: string;
  readonly session?: string;
  readonly resume?: string;
  readonly continue?: boolean;
  readonly fork?: boolean;
  readonly forkAt?: string;
  readonly budget?: readonly string[];
  readonly setting?: readonly string[];
  /** `--wait`, or `--no-wait`; absent: neither. */
  readonly wait?: boolean;
  readonly detach?: boolean;
  readonly watch?: boolean;
}

export function addStart(program: Command, cli: Cli): void {
  const command = program
    .command('start')
    .description(
      'Start a run of an agent and wait for its result. When it needs a person, it says how to answer and exits with 4.',
    )
    .argument('<agent>', 'name of an agent that a worker serves')
    .argument('[goal...]', 'what to achieve')
    .option('--file <file>', 'task as JSON or text; - is standard input')
    .option(
      '--run-id <id>',
      'id of the run; the same id again follows that run while it is under way, and is refused once it has ended',
    )
    .option('--attach <file>', 'picture, PDF or sound for the model; repeatable', collect)
    .option('--caller <name>', 'who asks; never counts as an approver')
    .option('--model <route>', "model in place of the agent's own")
    .option('--agents <json>', 'sub-agents for this run: {"auditor": {"description", "prompt"}}')
    .option('--session <id>', 'begin a session of this id, and keep it')
    .option('--resume <id>', 'go on with a kept session')
    .option('--continue', 'go on with the latest session of the caller in this folder')
    .option('--fork', 'with --resume or --continue: as a session of its own; the old one stays')
    .option('--fork-at <message>', 'the same with the messages up to this one')
    .option(
      '--budget <name=value>',
      'limit, e.g. maxTurns=5, maxCostUsd=0.5; at most what the agent says; repeatable',
      collect,
    )
    .option('--setting <name=value>', 'setting, e.g. afterAnswer=await_user; repeatable', collect)
    .option(
      '--watch',
      'print events and what models say as they happen, and go on through approvals',
    )
    .option('--detach', 'return when the run is open')
    .option('--wait', 'start also when no worker serves the agent, and wait for one')
    .option('--no-wait', 'return at once, without waiting for a worker to open it');
  withJson(
    withPlace(command),
    '{runId, status, result} or {runId, status, asks}; with --watch one event or stream_event per line',
  )
    .addHelpText(
      'after',
      examples(
        "holdfast start refund 'Order A-1001 arrived broken, please refund it'",
        "holdfast start refund 'What does the invoice say?' --attach invoice.pdf",
        'holdfast start refund --file task.json --budget maxCostUsd=0.25 --watch',
        "holdfast start refund 'Refund order A-1001' --wait    # the worker comes later",
        "holdfast start support 'And when will it arrive?' --continue",
        "echo 'Summarise the open tickets' | holdfast start support --file - --json",
      ),
    )
    .action((agent: string, words: readonly string[], options: StartOptions) =>
      runCommand(cli, options, (session, output) =>
        start(session, output, { cli, agent, words, options }),
      ),
    );
}

interface StartWanted {
  readonly cli: Cli;
  readonly agent: string;
  readonly words: readonly string[];
  readonly options: StartOptions;
}

async function start(session: Session, output: Output, asked: StartWanted): Promise<number | void> {
  const { options } = asked;
  const request = await requestOf(asked);
  const client = await session.client();
  const { wait } = options;
  const onHeldUp = heldUpRemarks(output);
  const run = await client.start({ ...request, onHeldUp, ...(wait !== undefined && { wait }) });
  await tellUnmatched(session, output, request);
  if (wait === false || options.detach) {
    output.data({ runId: run.runId, status: wait === false ? 'started' : 'open' });
    output.line(run.runId);
    return;
  }
  output.remark(`run ${run.runId}`);
  const hints = commandHints(asked.cli, session);
  const asking = { runId: run.runId, agents: [asked.agent] };
  const following = { session, output, hints: () => hints(asking) };
  return options.watch
    ? followEvents(run, { ...following, handle: (runId) => client.handle(runId) }, { tokens: true })
    : waitFor(run, following);
}

/** What the start names in vain: its run says nothing of it, and the worker tells its own log. */
async function tellUnmatched(
  session: Session,
  output: Output,
  start: Awaited<ReturnType<typeof requestOf>>,
): Promise<void> {
  const config = session.config();
  if (config?.agents.has(start.agent) !== true) return;
  const { unmatchedIn } = await import('../../activities/run/unmatched-start.js');
  try {
    for (const line of unmatchedIn(config, 'The start', start)) output.remark(line);
  } catch {
    // What else is wrong with it the worker finds: the run is started all the same.
  }
}

function waitFor(run: RunHandle, following: Parameters<typeof awaitOutcome>[1]): Promise<number> {
  following.output.remark(
    `Waiting; Ctrl-C leaves it running. Events: holdfast watch ${shellWord(run.runId)}`,
  );
  return awaitOutcome(run, following);
}

function sessionOptions(options: StartOptions, folder: string): SessionOptions {
  const { session, resume, continue: latest, fork, forkAt } = options;
  if (resume !== undefined && latest) throw usage('Give --resume or --continue, not both.');
  if ((fork || forkAt !== undefined) && resume === undefined && !latest) {
    throw usage('There is nothing to fork: --fork and --fork-at go with --resume or --continue.');
  }
  return {
    ...(session !== undefined && { sessionId: session }),
    ...(resume !== undefined && { resume }),
    ...(options.continue && { continue: true }),
    ...(fork && { fork }),
    ...(forkAt !== undefined && { fork: { at: forkAt } }),
    cwd: folder,
  };
}

function agentsIn(text: string): StartedAgents {
  const parsed = parseJsonText(text);
  if (parsed.ok) return parsed.value as StartedAgents;
  throw usage(`--agents is no JSON: ${parsed.reason}`);
}

/** Everything that can be wrong is found before the server is asked. */
async function requestOf({ cli, agent, words, options }: StartWanted) {
  const { folder } = cli.environment;
  if (options.watch && (options.detach || options.wait === false)) {
    throw usage('--watch follows the run; it does not go with --detach or --no-wait.');
  }
  const { file, runId, caller, model } = options;
  const input = await readTaskInput({ words, folder, ...(file !== undefined && { file }) });
  const budget = { ...input.budget, ...parseBudgetOptions(options.budget) };
  const settings = {
    ...(options.watch && { includePartialMessages: true }),
    ...input.settings,
    ...parseSettingOptions(options.setting),
  };
  const { task } = checkStart({ agent, task: input.task });
  const request = {
    agent,
    task: caller === undefined ? task : { ...task, caller },
    budget,
    settings,
    ...(model !== undefined && { model }),
    ...(options.attach !== undefined && { attachments: attachedPaths(options.attach, folder) }),
    ...(options.agents !== undefined && { agents: agentsIn(options.agents) }),
    ...(runId !== undefined && { runId: checkRunId(runId) }),
    ...sessionOptions(options, folder),
  };
  checkStart(request);
  return request;
}
