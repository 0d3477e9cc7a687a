/** The desk of `holdfast dev`: shown anew, under the same address and token, when what it shows of the code has changed. */
import type { Config } from '../../authoring/index.js';
import { HoldfastError } from '../../core/state/errors.js';
import type { Environment } from '../../worker/config.js';
import type { Cli } from '../command.js';
import { decidersIn } from '../desk/deciders.js';
import { startDesk, type RunningDesk } from '../desk/desk.js';
import type { KnownReach } from '../session.js';
import type { Output } from '../terminal/output.js';
import type { DevOptions } from './options.js';
import { commandWithOthers, takenText } from './ports.js';

export interface DevDesk {
  /**
   * Starts it; later: starts it anew where it would show something else, or does not run. Once its port is taken it stays
   * off. Errors: those of the start; the next call tries again.
   */
  show(config: Config): Promise<void>;
  /** With the token; undefined: it does not run. */
  link(): string | undefined;
  stop(): Promise<void>;
}

export interface DevDeskPlace {
  readonly place: Environment;
  readonly reach: KnownReach;
  readonly options: Pick<DevOptions, 'console' | 'consolePort'>;
}

export function devDesk(
  cli: Cli,
  { place, reach, options }: DevDeskPlace,
  output: Output,
): DevDesk {
  let running: RunningDesk | undefined;
  let shown: string | undefined;
  let port = options.consolePort;
  let isOff = !options.console;
  const start = async (config: Config, to: Output): Promise<void> => {
    const at = { place, reach, config, makeKey: true, ...(port !== undefined && { port }) };
    running = await startDesk(cli.environment, at, to).catch(async (error: unknown) => {
      // Without it everything else is still of use.
      if (!(error instanceof HoldfastError) || error.code !== 'PortTaken') throw error;
      const wanted = port ?? config.console.port;
      const purpose = 'the approval desk';
      const taken = [{ port: wanted, option: '--console-port', purpose }] as const;
      const command = await commandWithOthers(taken, { ...options });
      output.remark(
        `${await takenText(taken)} The approval desk does not run; with another port: ${command}`,
      );
      isOff = true;
      return undefined;
    });
    // Links that people have open stay good, whatever a save says.
    if (running !== undefined) port = portOf(running);
  };
  return {
    async show(config) {
      if (isOff) return;
      const facts = factsOf(config);
      if (running !== undefined && facts === shown) return;
      const isFirst = shown === undefined;
      const before = running;
      running = undefined;
      await before?.stop();
      await start(config, isFirst ? output : silent(output));
      shown = facts;
    },
    link: () => running?.link,
    stop: async () => running?.stop(),
  };
}

/** An address does not say the port that is usual for it. */
function portOf({ url }: RunningDesk): number {
  return Number(new URL(url).port || HTTP_PORT);
}

const HTTP_PORT = 80;

/** What of a configuration the desk shows, or lets people do. */
function factsOf(config: Config): string {
  const { agents, goals, tools, console, connectors, defaults } = config;
  return JSON.stringify([
    [...agents.values()].map(({ name, budget }) => [name, budget.maxCostMicroUsd]),
    [...goals.values()].map(({ name, definition }) => [name, definition]),
    [...tools.values()].map(({ record, description, inputSchema }) => [
      record,
      description,
      inputSchema,
    ]),
    [...connectors.keys()],
    [defaults.budget, console, decidersIn(config)],
  ]);
}

function silent(output: Output): Output {
  return { ...output, line: () => undefined, data: () => undefined };
}
