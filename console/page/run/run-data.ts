/** What the desk knows of a run, and what the run itself knows while a worker answers. */
import { get, pathOf } from '../data/api.js';
import type { RunDetail, RunState } from '../data/api-types.js';

const ENDED = ['completed', 'stopped', 'failed', 'cancelled', 'terminated', 'timed_out'];

export function hasEnded({ status }: Pick<RunDetail, 'status'>): boolean {
  return ENDED.includes(status);
}

export function fetchRun(runId: string, signal: AbortSignal): Promise<RunDetail> {
  return get(pathOf('runs', runId), signal);
}

/** Undefined while no worker answers: the events say enough until one does. */
export function fetchState(runId: string, signal: AbortSignal): Promise<RunState | undefined> {
  return get<RunState>(pathOf('runs', runId, 'state'), signal).catch(() => undefined);
}
