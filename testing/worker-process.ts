/** Worker processes that can be killed, frozen and cut: the real worker in a process of its own. */
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { extname, join } from 'node:path';
import type { Writable } from 'node:stream';
import { ACTIVITY_KINDS } from '../core/state/effect.js';
import { HoldfastError } from '../core/state/errors.js';
import { checkOptions, needed, oneOf, rules, type OptionRules } from '../pure/options.js';
import { CRASH_BOUNDARIES, type CompletionFault, type CrashPoint } from './crash/boundary.js';
import { RELEASE_FD } from './crash/protocol.js';
import { workerLine, type WorkerLine } from './crash/worker-line.js';
import type { WorkerEntrySettings } from './worker-entry.js';

export type { WorkerEntrySettings };

/** Only a process that hangs comes near it. */
const START_LIMIT_MS = 150_000;
const STOP_LIMIT_MS = 15_000;
const ENTRY = join(__dirname, `worker-entry${extname(__filename)}`);

/** A worker that stands still at a boundary: nothing in it moves, no timer, no heartbeat, no other run. */
export interface StandingStill {
  /** The run that it stands in. */
  readonly runId: string;
  /** Lets it go on as if nothing had happened. */
  release(): void;
}

export interface WorkerProcess {
  readonly pid: number;
  /** Resolves when the process is gone. */
  readonly exited: Promise<void>;
  /** SIGKILL: nothing of it runs afterwards. */
  kill(): Promise<void>;
  /** Drains, then ends. A worker that stands still or is frozen is killed after a while. */
  stop(): Promise<void>;
  /**
   * Makes the worker stand still at a boundary, once. Resolves when it knows of that, so that a run started
   * afterwards cannot slip by; `reached` resolves when it stands there, with undefined if it ends before.
   *
   * @example
   * const { reached } = await worker.standStillAt({ boundary: 'after-effect', runId: 'r1' });
   * await client.start({ agent: 'desk', task: 'Refund it.', runId: 'r1', wait: false });
   * await reached;
   * await worker.kill();
   */
  standStillAt(
    point: CrashPoint,
  ): Promise<{ readonly reached: Promise<StandingStill | undefined> }>;
  /**
   * Drops or doubles the report of one activity's result, once. Resolves as `standStillAt` does; `reached`
   * with the run in which it happened.
   */
  breakCompletion(
    fault: CompletionFault,
  ): Promise<{ readonly reached: Promise<string | undefined> }>;
  /** SIGSTOP: the process is frozen, and takes itself for alive when it goes on. */
  freeze(): void;
  /** SIGCONT. */
  unfreeze(): void;
}

const WHERE = rules('text runId, amount nth');
const POINT: OptionRules<CrashPoint> = { boundary: needed(oneOf(...CRASH_BOUNDARIES)), ...WHERE };
const FAULT: OptionRules<CompletionFault> = {
  completion: needed(oneOf('drop', 'duplicate')),
  of: oneOf(...ACTIVITY_KINDS),
  ...WHERE,
};

/** Starts a worker process and waits until it serves. From TypeScript sources it runs under tsx. */
export async function startWorkerProcess(settings: WorkerEntrySettings): Promise<WorkerProcess> {
  const loader = ENTRY.endsWith('.ts') ? ['--import', 'tsx'] : [];
  const child = spawn(process.execPath, [...loader, ENTRY, JSON.stringify(settings)], {
    stdio: ['pipe', 'pipe', 'inherit', 'pipe'],
  });
  const exited = once(child, 'exit').then(() => undefined);
  const line = workerLine(child.stdin!, child.stdout!, exited);
  await serving(child, line);
  const releasing = child.stdio[RELEASE_FD] as Writable;
  // A worker that was killed has closed its end.
  releasing.on('error', () => undefined);
  return { pid: child.pid!, exited, ...endings(child, exited), ...faults(line, releasing) };
}

function faults(
  line: WorkerLine,
  releasing: Writable,
): Pick<WorkerProcess, 'standStillAt' | 'breakCompletion'> {
  return {
    async standStillAt(point) {
      checkOptions('standStillAt', point, POINT);
      const { reached } = await line.order({ type: 'stand_still', point: { ...point } });
      const release = (): void => void releasing.write('\n');
      return {
        reached: reached.then((runId) => (runId === undefined ? undefined : { runId, release })),
      };
    },
    async breakCompletion(fault) {
      checkOptions('breakCompletion', fault, FAULT);
      return line.order({ type: 'break_completion', fault: { ...fault } });
    },
  };
}

/** A frozen process does not notice that its parent has gone: it is taken along. */
const frozen = new Set<ChildProcess>();
process.on('exit', () => {
  for (const child of frozen) child.kill('SIGKILL');
});

function endings(
  child: ChildProcess,
  exited: Promise<void>,
): Pick<WorkerProcess, 'kill' | 'stop' | 'freeze' | 'unfreeze'> {
  return {
    async kill() {
      child.kill('SIGKILL');
      await exited;
    },
    async stop() {
      child.kill('SIGTERM');
      const force = setTimeout(() => child.kill('SIGKILL'), STOP_LIMIT_MS);
      await exited;
      clearTimeout(force);
    },
    freeze() {
      frozen.add(child);
      child.kill('SIGSTOP');
    },
    unfreeze() {
      frozen.delete(child);
      child.kill('SIGCONT');
    },
  };
}

async function serving(child: ChildProcess, line: WorkerLine): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const outcome = await Promise.race([
    line.serving,
    new Promise<'late'>((resolve) => {
      timer = setTimeout(() => resolve('late'), START_LIMIT_MS);
    }),
  ]);
  clearTimeout(timer);
  if (outcome === 'serving') return;
  child.kill('SIGKILL');
  throw new HoldfastError('Internal', `The worker process ${outcome} before it served.`, {
    hint: 'The output of the worker above says why.',
  });
}
