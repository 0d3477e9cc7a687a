/** Worker processes of either side that can be killed and measured. */
import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { extname, join } from 'node:path';
import type { FromWorker, ToWorker, WorkerSettings } from './worker-entry.js';

export type { WorkerSettings };

export interface BenchWorker {
  readonly pid: number;
  /** From spawn to serving, in ms. */
  readonly startMs: number;
  /** Resident memory, by default after a collection of its main thread's garbage. */
  rssBytes(request?: ToWorker): Promise<number>;
  /** Processor time (user and system) of the process since it began, ms. */
  cpuMs(): Promise<number>;
  /** SIGKILL. */
  kill(): Promise<void>;
}

const ENTRY = join(__dirname, `worker-entry${extname(__filename)}`);
/** From compiled files a cold start is what a user sees; sources are compiled on the way. */
export const RUNS_FROM_SOURCES = ENTRY.endsWith('.ts');
const ANSWER_LIMIT_MS = 60_000;

/** `variables`: beside those that this process has. */
export async function spawnWorker(
  settings: WorkerSettings,
  variables: Readonly<Record<string, string>> = {},
): Promise<BenchWorker> {
  const began = performance.now();
  const child = fork(ENTRY, [JSON.stringify(settings)], {
    env: { ...process.env, ...variables },
    execArgv: ['--expose-gc', ...(RUNS_FROM_SOURCES ? ['--import', 'tsx'] : [])],
  });
  await answerOf(child, 'serving');
  return {
    pid: child.pid!,
    startMs: performance.now() - began,
    async rssBytes(request = 'collect and measure') {
      const answer = answerOf(child, 'memory');
      child.send(request);
      return (await answer).rssBytes;
    },
    async cpuMs() {
      const answer = answerOf(child, 'processor');
      child.send('processor' satisfies ToWorker);
      return (await answer).cpuMs;
    },
    async kill() {
      if (child.exitCode !== null || child.signalCode !== null) return;
      const exited = once(child, 'exit');
      child.kill('SIGKILL');
      await exited;
    },
  };
}

type Answer<Type extends FromWorker['type']> = Extract<FromWorker, { type: Type }>;

function answerOf<Type extends FromWorker['type']>(
  child: ChildProcess,
  type: Type,
): Promise<Answer<Type>> {
  return new Promise((resolve, reject) => {
    const late = setTimeout(() => done(new Error(`no '${type}' in time`)), ANSWER_LIMIT_MS);
    const heard = (message: FromWorker): void => {
      if (message.type === type) done(message as Answer<Type>);
    };
    const ended = (): void => done(new Error(`the worker ended before '${type}'`));
    function done(outcome: Answer<Type> | Error): void {
      clearTimeout(late);
      child.off('message', heard);
      child.off('exit', ended);
      if (outcome instanceof Error) reject(outcome);
      else resolve(outcome);
    }
    child.on('message', heard);
    child.on('exit', ended);
  });
}
