/** Runs that wait for a person's word, and the bare signal that gives it. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Client } from '@temporalio/client';
import type { HoldfastClient } from '../../client/index.js';
import type { WaitingAsk } from '../../client/runs/outcome.js';
import type { Decision } from '../../core/state/ask.js';
import { MANAGER } from './setting.js';
import type { SideName } from './place.js';

export interface Clients {
  readonly client: Client;
  readonly holdfast: HoldfastClient;
}

/** Sends the signal that lets a parked run go on; resolves when the server has it. */
export type Approve = () => Promise<void>;

const POLL_MS = 20;
const PARK_LIMIT_MS = 120_000;

/** Waits until the run waits, and prepares its approval. */
export async function parked(clients: Clients, side: SideName, runId: string): Promise<Approve> {
  return side === 'held' ? parkedHeld(clients, runId) : parkedBare(clients, runId);
}

export async function waitingAsk(holdfast: HoldfastClient, runId: string): Promise<WaitingAsk> {
  const outcome = await holdfast.handle(runId).outcome({ timeoutMs: PARK_LIMIT_MS });
  const [ask] = outcome.kind === 'waiting' ? outcome.asks : [];
  if (ask === undefined) throw new Error(`${runId} asks nothing`);
  return ask;
}

async function parkedHeld({ client, holdfast }: Clients, runId: string): Promise<Approve> {
  const ask = await waitingAsk(holdfast, runId);
  const decision: Decision = {
    v: 1,
    askId: ask.askId,
    argsHash: ask.argsHash,
    decision: 'approve',
    by: 'maria',
    roles: [MANAGER],
    decidedAt: Date.now(),
  };
  // The signal itself: the client's own `approve` also waits for the verdict.
  return () => client.workflow.getHandle(runId).signal('resolveApproval', decision);
}

async function parkedBare({ client }: Clients, runId: string): Promise<Approve> {
  const handle = client.workflow.getHandle(runId);
  const deadline = performance.now() + PARK_LIMIT_MS;
  while (!(await handle.query<boolean>('waiting').catch(() => false))) {
    if (performance.now() > deadline) throw new Error(`${runId} does not wait`);
    await sleep(POLL_MS);
  }
  return () => handle.signal('approve');
}
