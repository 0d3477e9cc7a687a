/** Shows what the agents do while they do it. */
import { setTimeout as sleep } from 'node:timers/promises';
import {
  HoldfastError,
  type HoldfastClient,
  type RunEvent,
  type RunResult,
} from '../../../index.js';
import { eventLine, isDetail } from '../../../cli/render/index.js';
import type { Desk } from '../../demo/desk.js';
import type { Terminal } from '../../demo/terminal.js';

export interface Following {
  readonly client: HoldfastClient;
  readonly terminal: Terminal;
  readonly desk: Desk;
  readonly signal: AbortSignal;
}

export interface AgentRun {
  readonly runId: string;
  /** Resolves when it is certain that this run will never start. */
  readonly cancelled: AbortSignal;
}

const POLL_MS = 50;

/** Follows one run from before its start to its end; gives its result, or undefined without one. */
export async function followRun(
  following: Following,
  run: AgentRun,
): Promise<RunResult | undefined> {
  const { client, terminal, desk, signal } = following;
  if (!(await hasStarted(client, run, signal))) return undefined;
  terminal.say();
  terminal.say(`Agent run ${run.runId}`);
  for await (const event of client.handle(run.runId).events({ signal })) {
    show(event, terminal);
    if (event.type === 'approval_requested') desk.open(run.runId, event);
    if (event.type === 'approval_resolved' || event.type === 'approval_withdrawn') {
      desk.close(event.askId);
    }
    if (event.type === 'run_result') return event.result;
  }
  return undefined;
}

function show(event: RunEvent, terminal: Terminal): void {
  const { paint } = terminal;
  const line = `  ${eventLine(event, { paint })}`;
  terminal.say(isDetail(event) ? paint.dim(line) : line);
}

/** The business process starts its agents when it comes to them. */
async function hasStarted(
  client: HoldfastClient,
  { runId, cancelled }: AgentRun,
  signal: AbortSignal,
): Promise<boolean> {
  while (!signal.aborted) {
    // Looked at first: a run that started just before its process ended must still be found.
    const last = cancelled.aborted;
    try {
      await client.handle(runId).execution();
      return true;
    } catch (error) {
      if (!(error instanceof HoldfastError) || error.code !== 'RunNotFound') throw error;
    }
    if (last) return false;
    await sleep(POLL_MS);
  }
  return false;
}
