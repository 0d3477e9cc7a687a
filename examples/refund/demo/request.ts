/** One customer's request, taken through the business process, shown as it goes. */
import { WorkflowFailedError } from '@temporalio/client';
import type { WorkflowHandle } from '@temporalio/client';
import { newRunId, type RunResult } from '../../../index.js';
import { BUSINESS_QUEUE } from '../business/queues.js';
import type { refundProcess, RefundDecided } from '../business/refund-process.js';
import { createDesk } from '../../demo/desk.js';
import { followRun } from './follow.js';
import type { Stage } from './stage.js';
import type { Terminal } from '../../demo/terminal.js';

export interface RequestOptions {
  readonly stage: Stage;
  readonly terminal: Terminal;
  readonly orderId: string;
  /** Aborted when the demo ends early, whatever the reason. */
  readonly stop: AbortController;
}

export interface Ended {
  readonly processId: string;
  readonly decided: RefundDecided;
  readonly results: readonly RunResult[];
}

const CUSTOMER = 'ada@example.com';
const KINDS = ['investigation', 'payment'] as const;
const CANCEL_LIMIT_MS = 5_000;

/** Undefined when the demo was stopped before the end. */
export async function processRequest(options: RequestOptions): Promise<Ended | undefined> {
  const { stage, terminal, orderId, stop } = options;
  const message = `My order ${orderId} arrived far too late. I want my money back.`;
  // A new id each time: an order may ask again, a process may not run twice.
  const processId = `refund-${orderId}-${newRunId().slice(-8)}`;
  const started = await stage.business.workflow.start<typeof refundProcess>('refundProcess', {
    workflowId: processId,
    taskQueue: BUSINESS_QUEUE,
    args: [{ orderId, customer: CUSTOMER, message }],
  });
  terminal.say();
  terminal.say(`${CUSTOMER}: "${message}"`);
  terminal.say(`Business process ${processId} (an ordinary Temporal workflow)`);
  const decided = started.result();
  const results = await follow(options, { processId, decided }).catch((error: unknown) => {
    stop.abort(error);
    return [];
  });
  if (stop.signal.aborted) {
    await cancel(started, decided);
    terminal.say(
      'The request was withdrawn: its run is cancelled, and no question of it is left open.',
    );
    return undefined;
  }
  return { processId, decided: await outcome(decided), results };
}

async function follow(
  { stage, terminal, stop }: RequestOptions,
  process: { readonly processId: string; readonly decided: Promise<unknown> },
): Promise<readonly RunResult[]> {
  const over = new AbortController();
  process.decided.finally(() => over.abort()).catch(() => undefined);
  const { client } = stage;
  const { signal } = stop;
  const desk = createDesk({
    client,
    terminal,
    onSilence: () => stop.abort('interrupted'),
    onError: (error) => stop.abort(error),
    command: 'npm start --',
  });
  const results: RunResult[] = [];
  for (const kind of KINDS) {
    const run = { runId: `${process.processId}.${kind}`, cancelled: over.signal };
    const result = await followRun({ client, terminal, desk, signal }, run);
    if (result !== undefined) results.push(result);
  }
  return results;
}

/** A process that was cut short is cancelled, so that nothing is left waiting for a person. */
async function cancel(handle: WorkflowHandle, decided: Promise<unknown>): Promise<void> {
  const ended = decided.catch(() => undefined);
  await handle.cancel().catch(() => undefined);
  const limit = new AbortController();
  const timer = setTimeout(() => limit.abort(), CANCEL_LIMIT_MS);
  await Promise.race([
    ended,
    new Promise<void>((resolve) => limit.signal.addEventListener('abort', () => resolve())),
  ]);
  clearTimeout(timer);
}

async function outcome(decided: Promise<RefundDecided>): Promise<RefundDecided> {
  try {
    return await decided;
  } catch (error) {
    // The reason lies at the bottom: process, child, failure.
    let cause: unknown = error;
    for (let depth = 0; depth < 5 && cause instanceof Error && cause.cause; depth += 1) {
      cause = cause.cause;
    }
    if (error instanceof WorkflowFailedError && cause instanceof Error) throw cause;
    throw error;
  }
}
