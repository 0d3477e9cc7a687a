/**
 * Queries: only a worker can answer them. Between two workflow tasks there are moments in which it cannot; a
 * little later it can.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { QueryNotRegisteredError } from '@temporalio/client';
import { HoldfastError } from '../core/state/errors.js';
import { TASK_REPLACED } from '../workflows/query-answers.js';
import { TASK_NOT_STARTED } from '../workflows/started-tasks.js';
import { bounded, workerLimitOf, type Link } from './link.js';
import { isCancelled, isPassedDeadline } from './server-failure.js';

/** Between two attempts, in ms: the task that the worker waits for goes first. */
const PAUSE_MS = 300;
/** In the words of our workflows, and of the SDK. */
const BAD_MOMENTS = [TASK_NOT_STARTED, TASK_REPLACED, 'Query expired'];

export interface Question {
  readonly runId: string;
  /** Longest wait for an answer, in ms; default that of the connection. */
  readonly limitMs?: number;
}

/** Errors: RunNotFound; ServerUnavailable when no worker can answer in time. */
export function askWorker<T>(link: Link, question: Question, ask: () => Promise<T>): Promise<T> {
  const { runId, limitMs = workerLimitOf(link) } = question;
  const over = performance.now() + limitMs;
  return bounded(link, { runId, limitMs, needsWorker: true }, async () => {
    for (;;) {
      try {
        return await ask();
      } catch (error) {
        if (!isBadMoment(error)) throw error;
        const isOver = performance.now() + PAUSE_MS >= over;
        if (isOver) throw isPassedDeadline(error) ? error : noAnswer(runId, error);
      }
      await sleep(PAUSE_MS);
    }
  });
}

/**
 * The SDK's client calls every query that failed an unknown one. The server gives up the queries of a worker that went
 * away, and has a limit of its own for a query that lies where only that worker would have looked.
 */
function isBadMoment(error: unknown): boolean {
  if (isCancelled(error) || isPassedDeadline(error)) return true;
  return (
    error instanceof QueryNotRegisteredError &&
    BAD_MOMENTS.some((moment) => error.message.includes(moment))
  );
}

function noAnswer(runId: string, cause: unknown): HoldfastError {
  const message = `A worker cannot say at the moment how run ${runId} stands: something has come for it that it has not begun with.`;
  const hint = `Ask again in a moment. If the run was terminated, its events are all that is left: \`holdfast watch ${runId}\`.`;
  return new HoldfastError('ServerUnavailable', message, { hint, details: { runId }, cause });
}
