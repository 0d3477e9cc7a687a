/** `holdfast message`, `mode`, `interrupt`, `close` and `cancel`: what a run is told. */
import type { Command } from 'commander';
import type { RunHandle } from '../../client/index.js';
import { HoldfastError } from '../../core/state/errors.js';
import { PERMISSION_MODES, type PermissionMode } from '../../core/state/permission-mode.js';
import { deskOf, withDesk, type DeskOptions } from '../desk/actor.js';
import {
  examples,
  runCommand,
  withJson,
  withPlace,
  type Cli,
  type CommonOptions,
} from '../command.js';
import { inert, shellWord } from '../render/index.js';
import { attachedPaths } from '../terminal/attached-paths.js';
import { collect, oneOf, usage } from '../usage.js';

interface MessageOptions extends DeskOptions {
  readonly attach?: readonly string[];
  readonly id?: string;
}

export function addMessage(program: Command, cli: Cli): void {
  const command = program
    .command('message')
    .description('Send a message of the user to a run: the next turn of a conversation.')
    .argument('<run>', 'run id')
    .argument('<text...>', 'what the user says')
    .option('--attach <file>', 'picture, PDF or sound for the model; repeatable', collect)
    .option('--id <id>', 'the same id again is ignored');
  withJson(withPlace(withDesk(command)), '{runId, messageId}')
    .addHelpText('after', examples("holdfast message run_01J… 'Yes, please go on'"))
    .action((runId: string, words: readonly string[], options: MessageOptions) =>
      runCommand(cli, options, async (session, output) => {
        const { id, attach } = options;
        const text = words.join(' ');
        const api = deskOf(cli, options);
        if (api !== undefined && attach !== undefined)
          throw usage('--attach needs the store of the workers; it does not go with --desk.');
        const files = attach && { attachments: attachedPaths(attach, cli.environment.folder) };
        const client = async () =>
          files === undefined ? session.clientWithoutStore() : session.client();
        const messageId =
          api === undefined
            ? await (
                await client()
              )
                .handle(runId)
                .sendMessage(text, { ...(id !== undefined && { id }), ...files })
            : (await api.post(pathOf(runId, 'messages'), { text, ...(id !== undefined && { id }) }))
                .messageId;
        output.data({ runId, messageId });
        output.line(output.paint.own(`Sent. Follow the run: holdfast watch ${shellWord(runId)}`));
      }),
    );
}

export function addMode(program: Command, cli: Cli): void {
  const command = program
    .command('mode')
    .description(
      'Set how much a run may do without asking, from its next permission decision on; open questions are looked at again.',
    )
    .argument('<run>', 'run id')
    .argument(
      '<mode>',
      `permission mode: ${PERMISSION_MODES.join(', ')}`,
      oneOf('permission mode', PERMISSION_MODES),
    );
  withJson(withPlace(command), '{runId, mode}')
    .addHelpText('after', examples('holdfast mode run_01J… plan'))
    .action((runId: string, mode: PermissionMode, options: CommonOptions) =>
      runCommand(cli, options, async (session, output) => {
        await (await session.clientWithoutStore()).handle(runId).setPermissionMode(mode);
        output.data({ runId, mode });
        output.line(output.paint.own(`Sent. Follow the run: holdfast watch ${shellWord(runId)}`));
      }),
    );
}

function pathOf(runId: string, what: 'messages' | 'interrupt'): string {
  return `/v1/runs/${encodeURIComponent(runId)}/${what}`;
}

interface Control {
  readonly name: string;
  readonly description: string;
  readonly done: string;
  readonly send: (run: RunHandle) => Promise<void>;
  /** Whoever has a token does it over the desk. */
  readonly atDesk?: 'interrupt';
}

export function addInterrupt(program: Command, cli: Cli): void {
  addControl(program, cli, {
    name: 'interrupt',
    description: 'Stop a run: what is under way is cancelled, and the run ends as interrupted.',
    done: 'Asked to stop.',
    send: (run) => run.interrupt(),
    atDesk: 'interrupt',
  });
}

export function addClose(program: Command, cli: Cli): void {
  addControl(program, cli, {
    name: 'close',
    description: 'End a conversation that waits for its user; any other run is cancelled.',
    done: 'Asked to close.',
    send: (run) => run.close(),
  });
}

export function addCancel(program: Command, cli: Cli): void {
  addControl(program, cli, {
    name: 'cancel',
    description: 'Cancel a run as a Temporal workflow: it ends as aborted.',
    done: 'Asked to cancel.',
    send: cancelOpen,
  });
}

/** Temporal takes a request to cancel a workflow that has ended, and nothing comes of it. */
async function cancelOpen(run: RunHandle): Promise<void> {
  if (!(await run.execution('brief')).closed) return run.cancel();
  throw new HoldfastError(
    'RunNotFound',
    `Run ${inert(run.runId)} has ended; nothing was cancelled.`,
    {
      hint: `See how it ended with \`holdfast show ${shellWord(run.runId)}\`.`,
      details: { runId: run.runId, ended: true },
    },
  );
}

function addControl(program: Command, cli: Cli, control: Control): void {
  const command = program
    .command(control.name)
    .description(control.description)
    .argument('<run>', 'run id');
  if (control.atDesk !== undefined) withDesk(command);
  withJson(withPlace(command), '{runId, asked}')
    .addHelpText('after', examples(`holdfast ${control.name} run_01J…`))
    .action((runId: string, options: DeskOptions) =>
      runCommand(cli, options, async (session, output) => {
        const api = control.atDesk === undefined ? undefined : deskOf(cli, options);
        if (api !== undefined && control.atDesk !== undefined) {
          await api.post(pathOf(runId, control.atDesk), {});
        } else await control.send((await session.clientWithoutStore()).handle(runId));
        output.data({ runId, asked: control.name });
        output.line(
          output.paint.own(`${control.done} See how it ends: holdfast watch ${shellWord(runId)}`),
        );
      }),
    );
}
