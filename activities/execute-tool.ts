/**
 * execute_tool: runs one granted call, once or as often as its declaration allows (design §8).
 * Invariant: the events of a call that changes something are stored before it runs. Those of a read go on
 * with the run unless the read is slow: storing them by themselves would cost every read a commit.
 */
import type { ExecuteToolInput, ExecuteToolOutput } from '../core/effect.js';
import { isMutating } from '../core/tool.js';
import { appendEvents } from './append-events.js';
import { standingOutcome } from './claim-call.js';
import { now, type ActivityDeps } from './deps.js';
import { executeEffect } from './execute-effect.js';
import { executeRead, type Executed } from './execute-read.js';
import { proofsOf } from './proofs.js';
import type { Scope } from './scope.js';
import { timersOf, type Timers } from './timers.js';
import { prepareCall, toolFor } from './tool-call.js';

export async function executeTool(
  deps: ActivityDeps,
  scope: Scope,
  input: ExecuteToolInput,
): Promise<ExecuteToolOutput> {
  const startedAt = now(deps);
  const tool = toolFor(deps, input.call);
  const reads = tool !== undefined && !isMutating(tool.record);
  const store = (): Promise<number> => appendEvents(deps.store, scope, input);
  const stored = reads ? storedWhenSlow(timersOf(deps), store) : await storedFirst(store);
  try {
    const executed = await withProofs(deps, input, await execute(deps, scope, input));
    const eventsUpTo = await stored.upTo();
    return {
      ...executed,
      durationMs: Math.max(0, now(deps) - startedAt),
      eventsUpTo: eventsUpTo ?? input.events[0]?.stamp.seq ?? 0,
    };
  } finally {
    stored.end();
  }
}

interface StoredEvents {
  /** The number below which all events are stored; undefined when those of this call are not. */
  upTo(): Promise<number | undefined>;
  end(): void;
}

async function storedFirst(store: () => Promise<number>): Promise<StoredEvents> {
  const upTo = await store();
  return { upTo: () => Promise.resolve(upTo), end: () => {} };
}

/** A read that takes longer is seen while it runs; ms. */
const SLOW_READ_MS = 100;

function storedWhenSlow(timers: Timers, store: () => Promise<number>): StoredEvents {
  let storing: Promise<number | undefined> = Promise.resolve(undefined);
  const cancel = timers.after(SLOW_READ_MS, () => {
    // What could not be stored now travels with the next effect, as after a quick read.
    storing = store().catch(() => undefined);
  });
  return {
    upTo() {
      cancel();
      return storing;
    },
    end: cancel,
  };
}

async function withProofs(
  { store }: ActivityDeps,
  input: ExecuteToolInput,
  executed: Executed,
): Promise<Executed> {
  const { outcome } = executed;
  if (outcome.kind !== 'ok') return executed;
  const proofs = await proofsOf(store, input, outcome.content);
  return { ...executed, outcome: { ...outcome, ...proofs } };
}

async function execute(
  deps: ActivityDeps,
  scope: Scope,
  input: ExecuteToolInput,
): Promise<Executed> {
  const prepared = await prepareCall(deps, input);
  if (!prepared.ok) {
    // Another worker may have begun what this one cannot run.
    const standing = await standingOutcome(deps, input);
    return { outcome: standing ?? prepared.outcome, attempts: 0 };
  }
  const execution = { input, runnable: prepared.runnable };
  return isMutating(prepared.runnable.tool.record)
    ? executeEffect(deps, scope, execution)
    : executeRead(deps, scope, execution);
}
