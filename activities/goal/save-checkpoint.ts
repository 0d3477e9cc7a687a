/**
 * save_checkpoint: what a pass found enters the memory, and a checkpoint is stored, behind every event of the pass.
 * Invariant: the same pass gives the same memory and the same checkpoint.
 */
import type { Json } from '../../core/json/json.js';
import { canonicalJson } from '../../core/json/json.js';
import type { ChildRecord } from '../../core/state/goal/memory.js';
import type { SaveCheckpointInput, SaveCheckpointOutput } from '../../core/state/goal/payloads.js';
import { withPass, type PassFound } from '../../pure/goal/log.js';
import type { Checkpoint } from '../../pure/goal/start-again.js';
import type { ActivityDeps } from '../deps.js';
import { appendEvents } from '../run/append-events.js';
import type { Scope } from '../scope.js';
import { readMemory, writeMemory } from './stored-memory.js';

export async function saveCheckpoint(
  deps: ActivityDeps,
  scope: Scope,
  input: SaveCheckpointInput,
): Promise<SaveCheckpointOutput> {
  return deps.store.together(async (store) => {
    const eventsUpTo = await appendEvents(store, scope, input);
    const memory = withPass(await readMemory(store, input, input.memory), foundBy(input));
    const hash = await writeMemory(store, input, memory);
    const { run, definition, n, cycle, at, checks, facts } = input;
    const checkpoint: Checkpoint = {
      v: 1,
      goal: run.runId,
      n,
      cycle,
      at,
      definition,
      memory: hash,
      checks,
      facts,
    };
    const stored = await store.putBlob(run.tenant, canonicalJson(checkpoint as unknown as Json));
    const held = input.held === undefined ? undefined : await heldAgain(store, input, input.held);
    return {
      checkpoint: stored.$blob,
      memory: hash,
      ...(held !== undefined && { held }),
      eventsUpTo,
    };
  });
}

/** A plan that waits for a person is kept in a memory that has everything else of this one. */
async function heldAgain(
  store: Parameters<typeof writeMemory>[0] & Parameters<typeof readMemory>[0],
  input: SaveCheckpointInput,
  held: string,
): Promise<string> {
  const { plan } = await readMemory(store, input, held);
  const memory = withPass(await readMemory(store, input, input.memory), foundBy(input));
  return writeMemory(store, input, { ...memory, plan });
}

function foundBy({ cycle, at, checks, progress, child, review }: SaveCheckpointInput): PassFound {
  return {
    cycle,
    at,
    checks,
    progress,
    ...(child !== undefined && { child: recordOf(child, cycle) }),
    ...(review !== undefined && { review: { ...review, at, cycle } }),
  };
}

function recordOf(
  { runId, agent, stopReason, detail, costMicroUsd }: NonNullable<SaveCheckpointInput['child']>,
  n: number,
): ChildRecord {
  const why = detail !== undefined && { detail };
  return { n, runId, agent, stopReason, ...why, costMicroUsd };
}
