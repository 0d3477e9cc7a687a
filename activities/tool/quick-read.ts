/**
 * A quick read: one attempt of a call inside the task that decides (core/call/quick.ts).
 * Invariants:
 *  It ends within `quick.ms`, whatever tool and store do, and always with an outcome: a failure would leave a history that
 *  does not say which call it was.
 *  Nothing is written but a result that is too large for the history; the run's events go on with its next effect.
 *  What is more than a read's own answer (a refusal that is audited, code that lacks, a store that is away) is left to
 *  the ordinary activity that follows.
 */
import { isToolError } from '../../authoring/tool-error.js';
import type { Json } from '../../core/json/json.js';
import type {
  ElsewhereReason,
  ExecuteToolInput,
  ExecuteToolOutput,
  QuickAttempt,
  ToolOutcome,
} from '../../core/state/effect.js';
import { graceOf, now, type ActivityDeps } from '../deps.js';
import { digestOf } from '../digests.js';
import { elsewhereReasonOf } from '../elsewhere.js';
import { follower } from '../follower.js';
import { runOutside } from '../run-outside.js';
import type { Scope } from '../scope.js';
import { timersOf, type Timers } from '../timers.js';
import { endOf, type Executed } from './execute-read.js';
import { notesOf } from './notes.js';
import { proofsOf } from './proofs.js';
import { prepareCall, toolContext } from './tool-call.js';
import { startMeter, type Meter } from './tool-cost.js';

type QuickInput = ExecuteToolInput & { readonly quick: QuickAttempt };

/** Of the time of an attempt, kept for telling how it ended; ms. */
const TELLING_MS = 100;

export async function readQuickly(
  deps: ActivityDeps,
  scope: Scope,
  input: QuickInput,
): Promise<ExecuteToolOutput> {
  const startedAt = now(deps);
  const limitMs = Math.max(1, input.quick.ms - TELLING_MS);
  const meter = startMeter(input);
  // Nobody waits for what is given up.
  const left = follower(scope.signal);
  const own = { ...scope, signal: left.signal };
  const work = tried(deps, own, { input, limitMs, meter }).catch((error: unknown) => ({
    outcome: outcomeOf(elsewhereReasonOf(error)),
    attempts: scope.work.reached ? 1 : 0,
  }));
  const late = (): Tried => {
    left.abort();
    const { reached } = scope.work;
    return { outcome: outcomeOf(reached ? 'timeout' : 'store'), attempts: reached ? 1 : 0 };
  };
  const performed = await within(work, { ms: limitMs, timers: timersOf(deps), late });
  const costMicroUsd = meter.charge(true);
  return {
    ...said(input, performed),
    durationMs: Math.max(0, now(deps) - startedAt),
    ...(costMicroUsd > 0 && { costMicroUsd }),
    ...(meter.unreadable && { costUnreadable: true as const }),
  };
}

export function isQuick(name: string, input: Partial<Pick<ExecuteToolInput, 'quick'>>): boolean {
  return name === 'execute_tool' && input.quick !== undefined;
}

/** The attempt did not answer, and an ordinary activity takes the call. */
export function elsewhere(input: ExecuteToolInput, reason: ElsewhereReason): ExecuteToolOutput {
  return said(input, { outcome: outcomeOf(reason), attempts: 0 });
}

/** The same for what was thrown before the attempt began. */
export function ranElsewhere(input: ExecuteToolInput, error: unknown): ExecuteToolOutput {
  return elsewhere(input, elsewhereReasonOf(error));
}

type Tried = Executed & Pick<ExecuteToolOutput, 'notes'>;

function said(input: ExecuteToolInput, performed: Tried): ExecuteToolOutput {
  const { quick, call, events } = input;
  const { callId, callKey, tool, args } = call;
  return {
    ...performed,
    eventsUpTo: events[0]?.stamp.seq ?? 0,
    durationMs: 0,
    ...(quick !== undefined && {
      quick: {
        effectId: quick.effectId,
        call: { callId, callKey, tool, args },
        input: digestOf(input as unknown as Json),
      },
    }),
  };
}

function outcomeOf(reason: ElsewhereReason): ToolOutcome {
  return { kind: 'elsewhere', reason };
}

interface Attempt {
  readonly input: QuickInput;
  readonly limitMs: number;
  readonly meter: Meter;
}

async function tried(
  deps: ActivityDeps,
  scope: Scope,
  { input, limitMs, meter }: Attempt,
): Promise<Tried> {
  const { store } = deps;
  const prepared = await prepareCall(deps, scope, input);
  if (!prepared.ok) return { outcome: outcomeOf('unserved'), attempts: 0 };
  const { runnable, said: notes } = notesOf(prepared.runnable);
  const timeoutMs = Math.min(input.timeoutMs, limitMs);
  const ended = await runOutside(deps, scope, {
    run: (signal) => {
      meter.began();
      const facts = { ...deps, ...input, attempt: scope.attempt, meter };
      return runnable.tool.run(runnable.input, toolContext(facts, signal));
    },
    timeoutMs,
    graceMs: Math.min(graceOf(deps, timeoutMs), limitMs - timeoutMs),
    isDefinite: isToolError,
    workMs: input.workMs,
  });
  if (ended.kind === 'timed_out' && timeoutMs < input.timeoutMs) {
    return { outcome: outcomeOf('timeout'), attempts: 1 };
  }
  const end = await endOf(deps, { input, runnable, meter }, ended);
  const told = notes.length > 0 && { notes };
  if (end.kind === 'stopped') return { outcome: stopped(scope), attempts: 1 };
  if (end.kind === 'failed') {
    const { code, message } = end;
    const outcome: ToolOutcome =
      input.maxRetries > 0 ? outcomeOf('failed') : { kind: 'error', code, message };
    return { outcome, attempts: 1, ...told };
  }
  const { outcome } = end;
  if (outcome.kind !== 'ok') return { outcome, attempts: 1, ...told };
  const proofs = await proofsOf(store, input, outcome.content);
  return { outcome: { ...outcome, ...proofs }, attempts: 1, ...told };
}

/** The run wants it to end, or only this worker has to. */
function stopped(scope: Scope): ToolOutcome {
  if (!scope.stopRequested()) return outcomeOf('stopping');
  const message = 'Interrupted mid-execution';
  return { kind: 'error', code: 'interrupted_mid_execution', message };
}

interface Within<T> {
  readonly ms: number;
  readonly timers: Timers;
  readonly late: () => T;
}

/** What the work comes to, or what it is given up for after so many ms. */
function within<T>(work: Promise<T>, { ms, timers, late }: Within<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    const cancel = timers.after(ms, () => resolve(late()));
    work.then(resolve, reject).finally(cancel);
  });
}
