/**
 * execute_tool: runs one granted call, once or as often as its declaration allows.
 * Invariant: the events of a call that changes something are stored with its claim, before it runs. Those of
 * a read go on with the run unless the read is slow: storing them by themselves would cost every read a commit.
 */
import type { ExecuteToolInput, ExecuteToolOutput } from '../../core/state/effect.js';
import { isMutating, retryFor } from '../../core/state/tool.js';
import { appendEvents } from '../run/append-events.js';
import { requiresProof } from './check-signatures.js';
import { auditRefusal } from './audit-effect.js';
import { standingOutcome } from './claim-call.js';
import { now, type ActivityDeps } from '../deps.js';
import { executeEffect } from './execute-effect.js';
import { executeRead, type Execution, type Performed } from './execute-read.js';
import { proofsOf } from './proofs.js';
import { messageCall } from './message-agent.js';
import { goalCall } from '../goal/goal-tool.js';
import type { Scope } from '../scope.js';
import { timersOf, type Timers } from '../timers.js';
import { costBefore, isClear, isTooDear, startMeter, TOO_DEAR } from './tool-cost.js';
import { goOn } from './server-question.js';
import { notesOf } from './notes.js';
import { readQuickly } from './quick-read.js';
import { prepareCall } from './tool-call.js';

export async function executeTool(
  deps: ActivityDeps,
  scope: Scope,
  input: ExecuteToolInput,
): Promise<ExecuteToolOutput> {
  if (input.quick !== undefined) return readQuickly(deps, scope, { ...input, quick: input.quick });
  const startedAt = now(deps);
  const metered = await withCost(deps, scope, input);
  const performed = await withProofs(deps, input, metered);
  return { ...performed, durationMs: Math.max(0, now(deps) - startedAt) };
}

type Metered = Performed & Pick<ExecuteToolOutput, 'costMicroUsd' | 'costUnreadable'>;

async function withCost(
  deps: ActivityDeps,
  scope: Scope,
  input: ExecuteToolInput,
): Promise<Metered> {
  const meter = startMeter(input);
  const before = await costBefore(deps, scope, input);
  const performed = await perform(deps, scope, { input, meter, before });
  const sum = before + meter.charge(isClear(performed.outcome));
  const costMicroUsd = Math.min(sum, Number.MAX_SAFE_INTEGER);
  if (input.cost === undefined && costMicroUsd === 0 && !meter.unreadable) return performed;
  return { ...performed, costMicroUsd, ...(meter.unreadable && { costUnreadable: true as const }) };
}

/** `before`: what earlier deliveries cost. */
type Work = Pick<Execution, 'input' | 'meter'> & { readonly before: number };

async function perform(
  deps: ActivityDeps,
  scope: Scope,
  { input, meter, before }: Work,
): Promise<Performed> {
  const prepared = await prepareCall(deps, scope, input).catch(async (refusal: unknown) => {
    // What the run did up to here is to be seen, whatever is wrong with this call.
    await appendEvents(deps.store, scope, input);
    throw refusal;
  });
  if (!prepared.ok) {
    const eventsUpTo = await appendEvents(deps.store, scope, input);
    // Another worker may have begun what this one cannot run.
    const standing = await standingOutcome(deps, input);
    if (prepared.refusal !== undefined) {
      // What is in doubt here is tried again, or found out, by a worker that has the code.
      if (standing === undefined || standing.kind === 'ambiguous') throw prepared.refusal;
      return { outcome: standing, attempts: 0, eventsUpTo };
    }
    if (standing === undefined && prepared.unproven !== undefined) {
      await auditRefusal(deps, input, prepared.unproven);
    }
    return { outcome: standing ?? prepared.outcome, attempts: 0, eventsUpTo };
  }
  const ofGoal = goalCall(deps, scope, { input, runnable: prepared.runnable });
  if (ofGoal !== undefined) {
    const { runnable, warnings } = ofGoal;
    const performed = await readSeen(deps, scope, { input, meter, runnable });
    return { ...performed, ...(warnings.length > 0 && { warnings }) };
  }
  const letter = messageCall(deps, scope, { input, runnable: prepared.runnable });
  if (letter !== undefined) return readSeen(deps, scope, { input, meter, runnable: letter });
  const next = await goOn(deps.store, input, prepared.runnable.tool.record.mcp?.connector ?? '');
  if (next.kind === 'ask') {
    const eventsUpTo = await appendEvents(deps.store, scope, input);
    return { outcome: next.outcome, attempts: 0, eventsUpTo };
  }
  const { exchange } = next;
  const notes = notesOf(prepared.runnable, {
    ...(exchange !== undefined && { exchange }),
    ...(prepared.runnable.tool.record.mcp !== undefined && {
      wantsProof: () => requiresProof(deps.store, input.run),
    }),
  });
  const performed = await performTool(deps, scope, { input, meter, before, ...notes });
  return notes.said.length === 0 ? performed : { ...performed, notes: notes.said };
}

async function performTool(
  deps: ActivityDeps,
  scope: Scope,
  { input, meter, before, runnable }: Work & Pick<Execution, 'runnable'>,
): Promise<Performed> {
  const execution = { input, meter, runnable };
  const { record } = runnable.tool;
  const mutating = isMutating(record);
  // What has one attempt alone is kept to it by its claim.
  if (retryFor(record) !== 'single' && isTooDear(input, before)) {
    const eventsUpTo = await appendEvents(deps.store, scope, input);
    const standing = mutating ? await standingOutcome(deps, input) : undefined;
    return { outcome: standing ?? TOO_DEAR, attempts: scope.attempt - 1, eventsUpTo };
  }
  return mutating ? executeEffect(deps, scope, execution) : readSeen(deps, scope, execution);
}

async function readSeen(
  deps: ActivityDeps,
  scope: Scope,
  execution: Execution,
): Promise<Performed> {
  const { input } = execution;
  const stored = storedWhenSlow(timersOf(deps), () => appendEvents(deps.store, scope, input));
  try {
    const executed = await executeRead(deps, scope, execution);
    const eventsUpTo = await stored.upTo();
    return { ...executed, eventsUpTo: eventsUpTo ?? input.events[0]?.stamp.seq ?? 0 };
  } finally {
    stored.end();
  }
}

interface StoredEvents {
  /** The number below which all events are stored; undefined when those of this call are not. */
  upTo(): Promise<number | undefined>;
  end(): void;
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
  performed: Performed,
): Promise<Performed> {
  const { outcome } = performed;
  if (outcome.kind !== 'ok') return performed;
  const proofs = await proofsOf(store, input, outcome.content);
  return { ...performed, outcome: { ...outcome, ...proofs } };
}
