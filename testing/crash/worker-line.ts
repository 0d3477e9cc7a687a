/**
 * The line to a worker process: orders go out, and it says when it has heard of them and when they came true.
 * Invariant: every promise resolves, at the latest when the process is gone.
 */
import { createInterface } from 'node:readline';
import type { Readable, Writable } from 'node:stream';
import { parseReport, type Command, type Report } from './protocol.js';

type Order = Command extends infer One ? (One extends Command ? Omit<One, 'id'> : never) : never;

export interface WorkerLine {
  readonly serving: Promise<'serving' | 'ended'>;
  /** Resolves when the worker has heard of it; `reached` with the run in which it came true. */
  order(order: Order): Promise<{ readonly reached: Promise<string | undefined> }>;
}

/** The process ended first. */
const ENDED = undefined;

export function workerLine(
  commands: Writable,
  reports: Readable,
  exited: Promise<void>,
): WorkerLine {
  const waiting = new Map<string, (report: Report) => void>();
  let lastId = 0;
  // A worker that is gone takes no orders.
  commands.on('error', () => undefined);
  createInterface({ input: reports }).on('line', (line) => {
    const report = parseReport(line);
    if (report === undefined) return;
    const key = keyOf(report);
    waiting.get(key)?.(report);
    waiting.delete(key);
  });
  const ended = exited.then(() => ENDED);
  const next = (key: string): Promise<Report | undefined> =>
    Promise.race([new Promise<Report>((resolve) => waiting.set(key, resolve)), ended]);
  return {
    serving: next('serving').then((report) => (report === ENDED ? 'ended' : 'serving')),
    async order(order) {
      const id = (lastId += 1);
      const heard = next(`heard ${id}`);
      const reached = next(`reached ${id}`).then((report) =>
        report?.type === 'reached' ? report.runId : undefined,
      );
      commands.write(`${JSON.stringify({ ...order, id })}\n`);
      await heard;
      return { reached };
    },
  };
}

function keyOf(report: Report): string {
  return report.type === 'serving' ? 'serving' : `${report.type} ${report.id}`;
}
