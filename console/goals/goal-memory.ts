/**
 * What a goal remembers, from the store alone.
 * Invariant: a memory is named by the goal itself, by its result or by one of its own events, never by a request.
 */
import type { RunEvent } from '../../core/state/event.js';
import type { StoredDefinition } from '../../core/state/goal/definition.js';
import type { GoalMemory } from '../../core/state/goal/memory.js';
import type { RunRow } from '../../store/runs.js';
import type { DeskStore } from '../desk-store.js';
import { newestFirst } from './newest-first.js';

type Reader = Pick<DeskStore, 'readEvents' | 'getBlob'>;

/** `named`: by the goal itself, which knows a newer one than its events. Undefined: nothing is stored yet. */
export async function newestMemory(
  store: Reader,
  row: RunRow,
  named?: string,
): Promise<GoalMemory | undefined> {
  const { tenant, result } = row;
  const known = named ?? result?.goal?.memory;
  const found = known === undefined ? undefined : await memoryAt(store, tenant, known);
  return found ?? (await toldMemory(store, row));
}

export async function memoryAt(
  store: Reader,
  tenant: string,
  hash: string,
): Promise<GoalMemory | undefined> {
  const memory = await storedJson(store, { tenant, hash });
  // One of a later release is none that can be shown here.
  return isMemory(memory) ? memory : undefined;
}

function isMemory(value: unknown): value is GoalMemory {
  return typeof value === 'object' && value !== null && 'v' in value && value.v === 1;
}

/** As it was started; undefined: the store has lost it. */
export async function definitionOf(
  store: Reader,
  { tenant, runId }: Pick<RunRow, 'tenant' | 'runId'>,
): Promise<StoredDefinition | undefined> {
  const { events } = await store.readEvents({ tenant, runId }, { sinceSeq: 0, limit: 1 });
  const [first] = events;
  if (first?.type !== 'goal_started') return undefined;
  return (await storedJson(store, { tenant, hash: first.definition })) as
    StoredDefinition | undefined;
}

/** Each pass of a goal names its memory. */
async function toldMemory(store: Reader, row: RunRow): Promise<GoalMemory | undefined> {
  for await (const event of newestFirst(store, row)) {
    const hash = await memoryNamedBy(store, row.tenant, event);
    const memory = hash === undefined ? undefined : await memoryAt(store, row.tenant, hash);
    if (memory !== undefined) return memory;
  }
  return undefined;
}

/** A checkpoint names the memory that it is of. */
async function memoryNamedBy(
  store: Reader,
  tenant: string,
  event: RunEvent,
): Promise<string | undefined> {
  if (event.type === 'plan_changed') return event.memory;
  if (event.type !== 'checkpoint_saved') return undefined;
  const saved = await storedJson(store, { tenant, hash: event.id });
  const { memory } = (saved ?? {}) as { readonly memory?: unknown };
  return typeof memory === 'string' ? memory : undefined;
}

/** Undefined: the store does not have it, or what it has is none. */
export async function storedJson(
  store: Pick<Reader, 'getBlob'>,
  { tenant, hash }: { readonly tenant: string; readonly hash: string },
): Promise<unknown> {
  const text = await store.getBlob(tenant, hash);
  try {
    return text === undefined ? undefined : (JSON.parse(text) as unknown);
  } catch {
    return undefined;
  }
}
