/** `holdfast worker`: one worker process. */
import { Option, type Command } from 'commander';
import { parseTuning } from '../../authoring/index.js';
import {
  examples,
  runCommand,
  withJson,
  withPlace,
  type Cli,
  type CommonOptions,
} from '../command.js';
import type { Probes } from '../../worker/probes.js';
import type { RunningWorker } from '../../worker/index.js';
import { onInterrupt, SECOND_ENDS } from '../terminal/interrupt.js';
import { readConfig, requireSandbox, serveAll, type WorkerPart } from '../serve.js';
import type { Session } from '../session.js';
import type { Output } from '../terminal/output.js';
import { usage, wholeNumber } from '../usage.js';

export function withConfig(command: Command): Command {
  return command.option(
    '--config <file>',
    'configuration (HOLDFAST_CONFIG; default: holdfast.config.ts here or in the nearest folder above)',
  );
}

interface WorkerOptions extends CommonOptions {
  readonly only?: WorkerPart;
  readonly queue?: string;
  readonly decisionsAtOnce?: number;
  readonly activitiesAtOnce?: number;
  readonly activitiesPerSecond?: number;
}

const AT_ONCE_MAX = 10_000;
const DRAINING = `The worker takes no new work and waits for what is under way. ${SECOND_ENDS}`;

function whole(least: number) {
  return wholeNumber('The number', [least, AT_ONCE_MAX]);
}

/** Errors: Usage: workflows wait on the queue of runs alone, calls in a sandbox on theirs. */
function partOf({ only, queue, ...options }: WorkerOptions) {
  if (queue !== undefined && only === 'workflows') {
    throw usage(
      '--queue is about tools, which are activities.',
      'Use --only activities --queue NAME.',
    );
  }
  if (queue !== undefined && only === 'sandbox') {
    throw usage(
      '--only sandbox serves the queue of calls in a sandbox whose tools name none.',
      'Use --only activities --queue NAME for a queue that a tool names.',
    );
  }
  const serves = queue === undefined ? only : 'activities';
  return {
    ...(serves !== undefined && { serves }),
    ...(queue !== undefined && { queue }),
    tuning: parseTuning({
      decisionsAtOnce: options.decisionsAtOnce,
      activitiesAtOnce: options.activitiesAtOnce,
      activitiesPerSecond: options.activitiesPerSecond,
    }),
  };
}

export function addWorker(program: Command, cli: Cli): void {
  const command = program
    .command('worker')
    .description(
      'Run a worker: it serves the agents of the configuration. Ctrl-C or SIGTERM lets running work end first.',
    );
  command
    .addOption(
      new Option('--only <part>', 'serve this part alone, beside workers of the other').choices([
        'workflows',
        'activities',
        'sandbox',
      ]),
    )
    .option('--queue <name>', 'serve the calls of tools that name this queue, and nothing else')
    .option('--decisions-at-once <n>', 'decisions of runs at once (default 10)', whole(2))
    .option(
      '--activities-at-once <n>',
      'model calls, tools and the like at once (default 100)',
      whole(1),
    )
    .option(
      '--activities-per-second <n>',
      'activities begun in a second (default: no limit)',
      whole(1),
    )
    .option(
      '--probe-address <ip:port>',
      'answer GET /health and GET /ready there (HOLDFAST_PROBE_ADDRESS)',
    )
    .option(
      '--metrics-address <ip:port>',
      "Prometheus metrics of Temporal's SDK, at /metrics there (HOLDFAST_METRICS_ADDRESS)",
    );
  withJson(withPlace(withConfig(command)), 'one line {serving, address, …} when it serves')
    .addHelpText(
      'after',
      examples(
        'holdfast worker',
        'holdfast worker --config agents/holdfast.config.ts --address temporal:7233',
        'holdfast worker --probe-address 127.0.0.1:8081',
        'holdfast worker --only sandbox',
        'holdfast worker --only activities --queue heavy',
      ),
    )
    .action((options: WorkerOptions) =>
      runCommand(cli, options, (session, output) => serve({ cli, session, options }, output)),
    );
}

interface Serving {
  readonly cli: Cli;
  readonly session: Session;
  readonly options: WorkerOptions;
}

async function serve({ cli, session, options }: Serving, output: Output): Promise<void> {
  const { environment } = cli;
  const part = partOf(options);
  const interrupt = onInterrupt();
  let probes: Probes | undefined;
  try {
    const { place } = session;
    const config = await readConfig(place, environment.folder).catch(async (error) => {
      // Without a server that is what has to be done first.
      await session.reach();
      throw error;
    });
    const path = environment.variables['PATH'];
    if (part.serves === 'sandbox') requireSandbox({ config, path });
    const reach = await session.reach(config.connection);
    const { signal } = interrupt;
    const say = (): void => output.remark(DRAINING);
    signal.addEventListener('abort', say, { once: true });
    const { metricsAddress, probeAddress } = place;
    const { startProbes } = await import('../../worker/probes.js');
    probes = probeAddress === undefined ? undefined : await startProbes(probeAddress);
    const serving = (worker: RunningWorker): void => probes?.watch(worker);
    await serveAll(
      { place, reach, config, ...part, path, signal, metricsAddress, serving },
      output,
    );
  } finally {
    await probes?.close();
    interrupt.release();
  }
}
