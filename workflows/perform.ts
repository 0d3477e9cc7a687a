/**
 * Performs effects: the only switch over Effect. Starts, never awaits; every outcome comes back through
 * the inbox as one Input that carries its time.
 * Invariants: an activity's id is its effect's id; each effect has its own cancellation scope, so that
 * cancelling the workflow cancels nothing by itself.
 */
import {
  ActivityCancellationType,
  AsyncLocalStorage,
  CancellationScope,
  isCancellation,
  proxyActivities,
  sleep,
  upsertSearchAttributes,
  type ActivityOptions,
} from '@temporalio/workflow';
import { defineSearchAttributeKey, SearchAttributeType } from '@temporalio/common';
import { RETRY_BACKOFF, type ActivityEffect, type Effect } from '../core/effect.js';
import { failureOf } from '../core/failure.js';
import { OUTCOME_TYPES, type EffectInput, type Input } from '../core/input.js';
import type { Run } from '../core/run.js';
import type { ActivityKind, AgentActivities, OutputOf } from './activity-types.js';
import type { Inbox } from './inbox.js';
import { rawFailure } from './raw-failure.js';

const STATUS = defineSearchAttributeKey('HoldfastStatus', SearchAttributeType.KEYWORD);
const AGENT = defineSearchAttributeKey('HoldfastAgent', SearchAttributeType.KEYWORD);
const TENANT = defineSearchAttributeKey('HoldfastTenant', SearchAttributeType.KEYWORD);

export interface Performer {
  perform(effect: Effect, run: Run): void;
}

/** A performer that reports into `inbox`. */
export function createPerformer(inbox: Inbox): Performer {
  const scopes = scopePool();

  /** Plain callbacks instead of awaits: every promise costs a turn of the run. */
  function launch<T>(id: string, begin: () => Promise<T>, report: Report<T>): void {
    const scope = scopes.take(id);
    const ended = (input: Input | undefined): void => {
      scopes.release(id);
      if (input !== undefined) inbox.put(input);
    };
    // What throws in here is a bug in the shell: it must fail the workflow task, not vanish.
    void scope.within(begin).then(
      (output) => ended(report.done(output)),
      (error: unknown) => ended(report.failed(error)),
    );
  }

  return {
    perform(effect, run) {
      switch (effect.kind) {
        case 'timer':
          return launch(effect.id, () => sleepUntil(effect), timerReport(effect.id));
        case 'cancel':
          return scopes.cancel(effect.target);
        case 'status':
          return showStatus(effect.status, run);
        case 'open_run':
        case 'call_model':
        case 'execute_tool':
        case 'reconcile_tool':
        case 'record_outcome':
        case 'check_call':
        case 'run_hooks':
        case 'compact':
        case 'resolve_model':
        case 'account_call':
        case 'flush':
        case 'close_run':
          return launch(effect.id, () => schedule(effect), activityReport(effect));
      }
    },
  };
}

/** A scope in which effects can be started; `within` makes no promise of its own, which `run` does. */
interface Pooled {
  readonly within: <T>(begin: () => Promise<T>) => Promise<T>;
  readonly scope: CancellationScope;
  uses: number;
}

/** What Node's class can do beyond the SDK's declaration of it: run code in the present context later. */
interface Contexts {
  snapshot(): Pooled['within'];
}

function pooledScope(): Pooled {
  const scope = new CancellationScope({ cancellable: true });
  let within: Pooled['within'] | undefined;
  void scope.run(async () => {
    within = (AsyncLocalStorage as unknown as Contexts).snapshot();
  });
  return { scope, within: within!, uses: 0 };
}

/** A scope remembers every activity that it ever ran, so it is not used for ever. */
const USES_MAX = 32;

/** Each effect in flight has a scope to itself; a scope whose effect ended uncancelled serves the next. */
function scopePool() {
  const taken = new Map<string, Pooled>();
  const free: Pooled[] = [];
  return {
    take(id: string): Pooled {
      const pooled = free.pop() ?? pooledScope();
      pooled.uses += 1;
      taken.set(id, pooled);
      return pooled;
    },
    release(id: string): void {
      const pooled = taken.get(id);
      taken.delete(id);
      if (pooled === undefined || pooled.scope.consideredCancelled) return;
      if (pooled.uses < USES_MAX) free.push(pooled);
    },
    cancel(id: string): void {
      taken.get(id)?.scope.cancel();
    },
  };
}

interface Report<T> {
  done(output: T): Input | undefined;
  failed(error: unknown): Input | undefined;
}

function sleepUntil(effect: Extract<Effect, { kind: 'timer' }>): Promise<void> {
  return sleep(Math.max(1, effect.at - Date.now()), { summary: effect.summary });
}

function timerReport(id: string): Report<void> {
  return {
    done: () => ({ type: 'timer_fired', id, at: Date.now() }),
    failed(error) {
      if (isCancellation(error)) return undefined;
      throw error;
    },
  };
}

function schedule(effect: ActivityEffect): Promise<OutputOf<ActivityKind>> {
  const activities = proxyActivities<AgentActivities>(optionsOf(effect));
  const activity = activities[effect.kind] as (input: unknown) => Promise<OutputOf<ActivityKind>>;
  return activity(effect.input);
}

function activityReport(effect: ActivityEffect): Report<OutputOf<ActivityKind>> {
  const { id, kind } = effect;
  return {
    done: (output) => ({ type: OUTCOME_TYPES[kind], id, output, at: Date.now() }) as EffectInput,
    failed: (error) => ({
      type: 'effect_failed',
      id,
      failure: failureOf(rawFailure(error)),
      at: Date.now(),
    }),
  };
}

function optionsOf(effect: ActivityEffect): ActivityOptions {
  const { attemptMs, totalMs, heartbeatMs, maximumAttempts } = effect.limits;
  return {
    activityId: effect.id,
    summary: effect.summary,
    startToCloseTimeout: totalMs === undefined ? attemptMs : Math.min(attemptMs, totalMs),
    ...(totalMs !== undefined && { scheduleToCloseTimeout: totalMs }),
    ...(heartbeatMs !== undefined && { heartbeatTimeout: heartbeatMs }),
    cancellationType: ActivityCancellationType.WAIT_CANCELLATION_COMPLETED,
    retry: {
      initialInterval: RETRY_BACKOFF.initialMs,
      maximumInterval: RETRY_BACKOFF.maximumMs,
      backoffCoefficient: RETRY_BACKOFF.coefficient,
      ...(maximumAttempts > 0 && { maximumAttempts }),
    },
  };
}

function showStatus(status: string, run: Run): void {
  upsertSearchAttributes([
    { key: STATUS, value: status },
    { key: AGENT, value: run.start.agent },
    { key: TENANT, value: run.tenant },
  ]);
}
