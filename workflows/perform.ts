/**
 * Performs effects: the only switch over Effect. Starts, never awaits; every outcome comes back through
 * the inbox as one Input that carries its time.
 * Invariants: an activity's id is its effect's id; each effect has its own cancellation scope, so that
 * cancelling the workflow cancels nothing by itself.
 */
import {
  ActivityCancellationType,
  CancellationScope,
  isCancellation,
  proxyActivities,
  proxyLocalActivities,
  sleep,
  type ActivityOptions,
  type LocalActivityOptions,
} from '@temporalio/workflow';
import {
  ACTIVITIES,
  RETRY_BACKOFF,
  type Activities,
  type ActivityEffect,
  type ActivityKind,
  type Effect,
  type OutputOf,
} from '../core/state/effect.js';
import { briefInput } from '../core/step/brief-input.js';
import { wholeOutput } from '../core/step/brief-output.js';
import { failureOf } from '../core/state/failure.js';
import type { EffectInput } from '../core/state/input.js';
import { askParent, begin, childReport, tell, type Told } from './children.js';
import type { Report } from './report.js';
import { showStatus, type Shown } from './showing.js';
import { isUndecodable, undecodable } from './payload-converter.js';
import { rawFailure, rawLocalFailure } from './raw-failure.js';

export interface Performer {
  perform(effect: Effect, shown: Shown): void;
}

/** A performer that reports into `inbox`, and starts children on `queue`; what it starts belongs to the scope of now. */
export function createPerformer(inbox: Told, queue: string): Performer {
  const around = CancellationScope.current();
  const scopes = new Map<string, CancellationScope>();

  function launch<T>(id: string, begin: () => Promise<T>, report: Report<T>): void {
    const scope = new CancellationScope({ cancellable: true, parent: around });
    scopes.set(id, scope);
    const ended = (input: EffectInput | undefined): void => {
      scopes.delete(id);
      if (input !== undefined) inbox.put(input);
    };
    // What throws in here is a bug in the shell: it must fail the workflow task, not vanish.
    void scope.run(begin).then(
      (output) => ended(report.done(output)),
      (error: unknown) => ended(report.failed(error)),
    );
  }

  return {
    perform(effect, shown) {
      switch (effect.kind) {
        case 'timer':
          return launch(effect.id, () => sleepUntil(effect), timerReport(effect.id));
        case 'cancel':
          return scopes.get(effect.target)?.cancel();
        case 'status':
          return showStatus(effect.status, shown);
        case 'start_child':
          return launch(effect.id, () => begin(effect, { queue, inbox }), childReport(effect.id));
        case 'tell_child':
          return void around.run(async () => tell(effect, inbox));
        case 'tell_parent':
          return void around.run(async () => askParent(effect, inbox));
        default:
          return launch(effect.id, () => schedule(effect), activityReport(effect));
      }
    },
  };
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
  const activities =
    effect.local === true
      ? proxyLocalActivities<Activities>(localOptionsOf(effect))
      : proxyActivities<Activities>(optionsOf(effect));
  const activity = activities[effect.kind] as (input: unknown) => Promise<OutputOf<ActivityKind>>;
  return activity(briefInput(effect));
}

function activityReport(effect: ActivityEffect): Report<OutputOf<ActivityKind>> {
  const { id, kind } = effect;
  return {
    done(output) {
      if (isUndecodable(output)) throw undecodable(`result of ${id}`, output);
      const whole = wholeOutput(kind, output);
      return { type: ACTIVITIES[kind].outcome, id, output: whole, at: Date.now() } as EffectInput;
    },
    failed(error) {
      const raw = effect.local === true ? rawLocalFailure(error) : rawFailure(error);
      if (isUndecodable(raw.details)) throw undecodable(`failure of ${id}`, raw.details);
      return { type: 'effect_failed', id, failure: failureOf(raw, effect.limits), at: Date.now() };
    },
  };
}

/** Losses after which nobody knows what an attempt did; only a throw says that it had not begun. */
const ENDED_IN_DOUBT = ['TemporalTimeout:StartToClose', 'TemporalTimeout:Heartbeat'];

function optionsOf(effect: ActivityEffect): ActivityOptions {
  const { attemptMs, totalMs, queuedMs, heartbeatMs, maximumAttempts, once } = effect.limits;
  return {
    activityId: effect.id,
    summary: effect.summary,
    ...(effect.queue !== undefined && { taskQueue: effect.queue }),
    startToCloseTimeout: totalMs === undefined ? attemptMs : Math.min(attemptMs, totalMs),
    ...(totalMs !== undefined && { scheduleToCloseTimeout: totalMs }),
    ...(queuedMs !== undefined && { scheduleToStartTimeout: queuedMs }),
    ...(heartbeatMs !== undefined && { heartbeatTimeout: heartbeatMs }),
    cancellationType: ActivityCancellationType.WAIT_CANCELLATION_COMPLETED,
    retry: {
      initialInterval: RETRY_BACKOFF.initialMs,
      maximumInterval: RETRY_BACKOFF.maximumMs,
      backoffCoefficient: RETRY_BACKOFF.coefficient,
      ...(maximumAttempts > 0 && { maximumAttempts }),
      ...(once && { nonRetryableErrorTypes: ENDED_IN_DOUBT }),
    },
  };
}

/** Temporal numbers these by itself; its own limit comes right behind that of the activity (activities/tool/quick-read.ts). */
function localOptionsOf({ limits, summary }: ActivityEffect): LocalActivityOptions {
  const { attemptMs, maximumAttempts } = limits;
  return {
    summary,
    startToCloseTimeout: attemptMs,
    scheduleToCloseTimeout: attemptMs,
    retry: { maximumAttempts },
  };
}
