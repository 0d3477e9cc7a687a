/** What all commands share: their options for the place, their output, their exit code. */
import type { Command } from 'commander';
import { blamingOptions } from './blame.js';
import { speechOf, type CliEnvironment, type PlaceOptions } from './environment.js';
import { EXIT } from './exit-code.js';
import { createOutput, type Output, type Streams } from './terminal/output.js';
import { withSession, type Session } from './session.js';

export interface Cli {
  /** With what the command line says of the place, once it is read. */
  environment: CliEnvironment;
  readonly streams: Streams;
  /** Where lines are typed; default: standard input. */
  readonly input?: NodeJS.ReadableStream;
  /** Read when everything is over. */
  exitCode: number;
}

export interface CommonOptions extends PlaceOptions {
  readonly json?: boolean;
}

/** Gives the exit code; nothing means that the command did its work. */
export type Work = (session: Session, output: Output) => Promise<number | void>;

/** Runs the body of a command; its errors are reported by the caller of the program. */
export async function runCommand(cli: Cli, options: CommonOptions, work: Work): Promise<void> {
  const { environment, streams } = cli;
  const output = createOutput(streams, {
    json: options.json === true,
    ...speechOf(environment),
  });
  try {
    const code = await withSession(environment, options, (session) => work(session, output));
    cli.exitCode = code ?? EXIT.completed;
  } catch (error) {
    throw blamingOptions(error, options);
  }
}

/** Options of every command that reaches runs. */
export function withPlace(command: Command): Command {
  return command
    .option(
      '--address <host:port>',
      'Temporal server (HOLDFAST_ADDRESS; default: the embedded one)',
    )
    .option('--namespace <name>', 'namespace (HOLDFAST_NAMESPACE)')
    .option('--task-queue <name>', 'task queue (HOLDFAST_TASK_QUEUE)')
    .option(
      '--store <place>',
      'store of the workers: a file or a postgres:// URL (HOLDFAST_STORE; default .holdfast/store.db beside the configuration)',
    )
    .option(
      '--home <folder>',
      'data folder (HOLDFAST_HOME; default .holdfast beside the configuration)',
    );
}

export function withJson(command: Command, shape: string): Command {
  return command.option('--json', `print JSON: ${shape}`);
}

export function examples(...lines: readonly string[]): string {
  return `\nExamples:\n${lines.map((line) => `  $ ${line}`).join('\n')}`;
}
