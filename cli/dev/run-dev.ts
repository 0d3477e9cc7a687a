/** What `holdfast dev` runs, in order: server, desk, workers; and what a saved file and a key mean to them. */
import { relative } from 'node:path';
import type { Config } from '../../authoring/index.js';
import { HoldfastError } from '../../core/state/errors.js';
import { runningServer, type ServerHandle } from '../../devserver/index.js';
import type { Environment } from '../../worker/config.js';
import { withoutName, type ServerReach } from '../../worker/reach.js';
import type { Cli } from '../command.js';
import { openBrowser } from '../connectors/browser.js';
import { commandHints } from '../desk/actor.js';
import { startEmbedded } from '../embedded-server.js';
import { inert } from '../render/index.js';
import { embeddedReach, type KnownReach } from '../session.js';
import type { ServeOptions } from '../serve.js';
import { aborted, onInterrupt, SECOND_ENDS } from '../terminal/interrupt.js';
import type { Output } from '../terminal/output.js';
import { wasWritten } from '../written.js';
import { askFirst } from './ask-first.js';
import { devDesk, type DevDesk } from './dev-desk.js';
import { devWorkers, providersOf } from './dev-workers.js';
import { onKeys } from './keys.js';
import { liveCode, type LiveCode } from './live-code.js';
import { watchNeighbours } from './neighbours.js';
import type { DevAt } from './options.js';
import { requirePorts, wantedPorts } from './ports.js';
import { projectCode } from './project-code.js';
import { projectFiles } from './project-files.js';
import { reloader, type Reloader } from './reload.js';
import { watchFiles, type Watcher } from './watcher.js';

/** What was begun, the last of it first to be ended. */
type Ending = () => void | Promise<void>;

export async function runDev(cli: Cli, at: DevAt, output: Output): Promise<void> {
  const { environment } = cli;
  const { options, session } = at;
  const { place } = session;
  const interrupt = onInterrupt();
  const lost = new AbortController();
  const endings: Ending[] = [() => interrupt.release()];
  try {
    const code = projectCode({ folder: environment.folder, configFile: readable(place) });
    const config = await code.load();
    const named = await session.named(config.connection);
    const known = await knownReach(named, place, output);
    if (known === undefined) await portsFor(at, config);
    const server = known === undefined ? await startServer(cli, at, output) : undefined;
    if (server !== undefined) {
      endings.push(() => server.stop());
      void server.exited.then(() => lost.abort());
    }
    const reach = known ?? embeddedReach(named, server?.address ?? named.address);
    if (interrupt.signal.aborted) return;
    const desk = devDesk(cli, { place, reach, options }, output);
    endings.push(() => desk.stop());
    await desk.show(config);
    if (interrupt.signal.aborted) return;
    const signal = AbortSignal.any([interrupt.signal, lost.signal]);
    const providers = await providersOf(place, config);
    const live = liveCode({ config, providers }, (line) => output.remark(line));
    endings.push(() => live.close());
    interrupt.signal.addEventListener('abort', () => sayDraining(live, output), { once: true });
    const serving: ServeOptions = {
      place,
      reach,
      config,
      signal,
      path: environment.variables['PATH'],
      servesQueues: true,
      stackTraces: true,
      activities: (deps) => live.activities(deps),
    };
    const workers = devWorkers(serving, live, output);
    const loading = { code, config, folder: environment.folder, live, desk, workers, place };
    const reload = reloader(loading, output);
    endings.push(...(await beside(cli, { ...at, code, reload, desk, live }, output)));
    const hints = commandHints(cli, session);
    const asked = workers.ready.then((isServing) =>
      isServing && options.ask !== undefined
        ? askFirst(at, { config, signal, hints }, output)
        : undefined,
    );
    await workers.serve(config);
    // Nobody serves the run any more: without a server its end is never heard of.
    await Promise.race([asked, aborted(signal)]);
    if (lost.signal.aborted && !interrupt.signal.aborted) throw serverLost(server);
  } finally {
    // Workers have drained before; the server goes after what needs it.
    for (const end of endings.toReversed()) await end();
  }
}

/** `HOLDFAST_CONFIG=none` is refused as by every command that serves. */
function readable({ configFile, withoutConfig }: Environment): string | undefined {
  if (!withoutConfig) return configFile;
  throw new HoldfastError(
    'InvalidConfig',
    'HOLDFAST_CONFIG=none is for commands that serve nothing.',
    { hint: 'Name the configuration, or unset HOLDFAST_CONFIG.' },
  );
}

interface Beside extends DevAt {
  readonly code: ReturnType<typeof projectCode>;
  readonly reload: Reloader;
  readonly desk: DevDesk;
  readonly live: LiveCode;
}

/** What watches files, keys and the queue. Gives what ends each. */
async function beside(cli: Cli, at: Beside, output: Output): Promise<readonly Ending[]> {
  const { options, session, reload, desk } = at;
  const endings: Ending[] = [() => reload.stop()];
  if (options.watch) {
    const watcher = await watchProject(cli, at, output);
    endings.push(() => watcher.stop());
  }
  const { taskQueue } = session.place;
  const tell = (line: string): void => output.remark(line);
  // In a new project the store comes with the worker: a client that was opened before would stay without one.
  const pollers = async () => (await session.clientWithoutStore()).pollers();
  endings.push(watchNeighbours({ taskQueue, pollers, tell }));
  if (cli.environment.interactive && !output.json) {
    const keys = onKeys(
      process.stdin,
      { r: reload.now, o: () => void openDesk(desk, output), q: pressCtrlC },
      pressCtrlC,
    );
    endings.push(() => keys.release());
    output.line('Keys             r loads the code anew, o opens the desk, q ends');
  }
  return endings;
}

function watchProject(cli: Cli, { code, live, reload }: Beside, output: Output): Promise<Watcher> {
  const { folder } = cli.environment;
  const files = projectFiles({
    isLoaded: code.isLoaded,
    isReport: wasWritten,
    wasLoading: code.wasLoading,
    ranCode: live.work.ranCode,
    ranBriefly: live.work.ranBriefly,
    output: (file) =>
      output.remark(
        `${inert(relative(folder, file))} is written while tools run or code is loaded, so it is taken for their output. Saved at another time it counts as code.`,
      ),
  });
  return watchFiles({
    root: code.folder,
    folders: code.folders,
    changed(saved) {
      const found = files.among(saved);
      if (found.length > 0) reload.changed(found);
    },
    beyond: (what) =>
      output.remark(
        `The project has more than ${what}. Files beyond them are not watched: start \`holdfast dev\` anew after a change there.`,
      ),
  });
}

/** As the terminal would: every part of the command that listens hears the signal. */
function pressCtrlC(): void {
  process.kill(process.pid, 'SIGINT');
}

async function openDesk(desk: DevDesk, output: Output): Promise<void> {
  const link = desk.link();
  if (link === undefined) output.remark('The approval desk does not run.');
  else if (!(await openBrowser(link))) output.remark(`No browser can be opened here: ${link}`);
}

function sayDraining({ work }: LiveCode, output: Output): void {
  const jobs = work.shown();
  output.remark(
    jobs.length === 0
      ? 'The worker takes no new work, and nothing is at work. Runs go on when a worker serves again.'
      : `The worker takes no new work and waits for ${jobs.join(', ')}. ${SECOND_ENDS}`,
  );
}

/** A server of this folder that nobody owns is ended by the start: its ports come free. */
async function portsFor({ options, session }: DevAt, { console }: Config): Promise<void> {
  if ((await runningServer(session.place.home)) !== undefined) return;
  await requirePorts(wantedPorts(options, console.port), { ...options });
}

async function startServer(cli: Cli, { options, session }: DevAt, output: Output) {
  return startEmbedded(cli.environment, { ...options, home: session.place.home }, output);
}

/** A server that is named or runs already; undefined when one must be started. */
async function knownReach(
  named: ServerReach,
  place: Environment,
  output: Output,
): Promise<KnownReach | undefined> {
  if (named.isNamed) {
    output.line(`Temporal server  ${named.address} (named)`);
    return withoutName(named);
  }
  const running = await runningServer(place.home);
  if (running === undefined || running.orphaned) return undefined;
  output.line(`Temporal server  ${running.address} (already running)`);
  output.line(`Temporal UI      ${running.uiUrl ?? 'off'}`);
  return embeddedReach(named, running.address);
}

function serverLost(server: ServerHandle | undefined): HoldfastError {
  return new HoldfastError('ServerUnavailable', 'The embedded server ended by itself.', {
    hint: `Read ${server?.logFile ?? 'its log'}, then run \`holdfast dev\` again; its database is kept.`,
  });
}
