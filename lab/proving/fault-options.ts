/** The flags of `npm run proving` that make things go wrong: what they mean, and which go together. */
import { Option, type Command } from 'commander';
import { HoldfastError } from '../../core/state/errors.js';
import { KILL_MODES, type KillMode } from './kill-plan.js';
import type { Faults } from './run-faults.js';
import { TOOL_FAULTS, type ToolFault } from './tool-faults.js';
import { wholeNumber } from './whole-number.js';

/** As commander gives them. */
export interface FaultOptions {
  readonly kill: KillMode;
  /** True: without a number. */
  readonly serverKill?: number | true;
  readonly pause?: true;
  readonly modelFaults?: true;
  readonly toolFaults?: ToolFault;
}

const SERVER_KILLS_DEFAULT = 10;
const SERVER_KILLS_MAX = 1_000;

export function addFaultOptions(command: Command): Command {
  return command
    .addOption(
      new Option(
        '--kill <when>',
        'SIGKILL the worker of each run once: at random, at the named boundary, or each run once at every one',
      )
        .choices(KILL_MODES)
        .default('none'),
    )
    .option(
      '--server-kill [times]',
      `SIGKILL the server at random, ${SERVER_KILLS_DEFAULT} times over all runs`,
      wholeNumber(1, SERVER_KILLS_MAX),
    )
    .option(
      '--pause',
      'freeze the worker of each run once until it has been given up, then wake it',
    )
    .option('--model-faults', 'the model refuses, stalls or breaks off at random')
    .addOption(
      new Option(
        '--tool-faults <which>',
        'one call of each run meets a service that fails',
      ).choices(TOOL_FAULTS),
    );
}

/** Errors: Usage for faults that say nothing together. */
export function faultsOf(options: FaultOptions): Faults {
  const { kill, serverKill, pause, modelFaults, toolFaults } = options;
  const kills = kill !== 'none';
  if (pause === true && kills) {
    throw usage('--pause and --kill', 'a worker is either frozen or killed');
  }
  if (pause === true && serverKill !== undefined) {
    throw usage('--pause and --server-kill', 'a run would outlast its time');
  }
  if (toolFaults === '503-forever' && (kills || pause === true)) {
    throw usage(
      `--tool-faults 503-forever and ${kills ? '--kill' : '--pause'}`,
      'the call at which the worker is stopped may never come',
    );
  }
  return {
    kill,
    ...(serverKill !== undefined && {
      serverKills: serverKill === true ? SERVER_KILLS_DEFAULT : serverKill,
    }),
    ...(pause === true && { pause }),
    ...(modelFaults === true && { modelFaults }),
    ...(toolFaults !== undefined && { toolFaults }),
  };
}

function usage(flags: string, reason: string): HoldfastError {
  return new HoldfastError('Usage', `${flags} do not go together: ${reason}.`);
}

/** What goes wrong, for a person. */
export function describeFaults(faults: Faults): string {
  return [
    `kill ${faults.kill}`,
    ...(faults.serverKills === undefined ? [] : [`server killed ${faults.serverKills} times`]),
    ...(faults.pause === true ? ['workers frozen'] : []),
    ...(faults.modelFaults === true ? ['model faults'] : []),
    ...(faults.toolFaults === undefined ? [] : [`tool faults ${faults.toolFaults}`]),
  ].join(', ');
}

/** The flags that give the same faults again. */
export function faultWords(faults: Faults): readonly string[] {
  return [
    '--kill',
    faults.kill,
    ...(faults.serverKills === undefined ? [] : ['--server-kill', String(faults.serverKills)]),
    ...(faults.pause === true ? ['--pause'] : []),
    ...(faults.modelFaults === true ? ['--model-faults'] : []),
    ...(faults.toolFaults === undefined ? [] : ['--tool-faults', faults.toolFaults]),
  ];
}
