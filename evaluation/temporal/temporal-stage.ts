/** The stage that a real server and worker give to the doubles of a case. */
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { RunHandle } from '../../client/runs/run-handle.js';
import { HoldfastError } from '../../core/state/errors.js';
import type { Life } from '../../testing/simulation/index.js';
import { attachmentsOf } from '../case-files.js';
import { answeredRun } from '../run-tree.js';
import { decisionOf, inputAskFor } from '../scripted/decisions.js';
import type { Stage, StageAction, StageWorker } from '../scripted/stage.js';
import type { CaseLife } from './case-life.js';
import type { Host } from './hosts.js';
import type { Turns } from './turns.js';

export interface StageFacts {
  readonly host: Host;
  readonly life: CaseLife;
  readonly turns: Turns;
}

export interface RunFacts extends StageFacts {
  readonly run: RunHandle;
}

/** What is said to the runs of a case; everything else happens to its worker. */
export type Sent = Exclude<StageAction, { kind: 'advance' | 'killWorker' | 'restartWorker' }>;

/** How long a stop from outside may take to reach a running activity, in ms: a heartbeat or two. */
const STOP_LIMIT_MS = 10_000;
/** How long anything else from outside gets to be received, in ms. */
const RECEIVED_MS = 100;

export function temporalStage<F extends StageFacts>(
  facts: () => F,
  send: (facts: F, action: Sent) => Promise<void>,
): Stage {
  return {
    now: () => facts().host.now(),
    worker: () => workerOf(facts()),
    perform: (action) => perform(facts(), send, action),
  };
}

function workerOf(facts: StageFacts): StageWorker {
  const { host, life, turns } = facts;
  const living = life.current();
  return {
    async wait(ms, signal) {
      if (ms > 0) await sleep(ms, undefined, { signal }).catch(() => undefined);
      await alive(living);
    },
    async waitAsCall(call, ms, signal) {
      await turns.wait(call, ms, signal);
      await alive(living);
    },
    async settle(signal, stops) {
      await alive(living);
      if (stops) await abortedWithin(signal, STOP_LIMIT_MS);
      else await sleep(RECEIVED_MS);
      await alive(living);
    },
    async together(act) {
      // Nobody looks at the run until it has both what is done now and what the caller returns. Temporal's test server
      // loses tasks when a worker leaves: there the run hears of one after the other.
      if (host.time === undefined) {
        await host.holdWorkflows();
        life.atNextOutcome(() => host.releaseWorkflows());
      }
      await act();
      await alive(living);
    },
    onDeath: living.onDeath,
    die() {
      if (!living.dead) life.die();
      return new Promise(() => undefined);
    },
  };
}

function alive({ dead }: Life): Promise<void> {
  return dead ? new Promise(() => undefined) : Promise.resolve();
}

async function abortedWithin(signal: AbortSignal, limitMs: number): Promise<void> {
  if (signal.aborted) return;
  await sleep(limitMs, undefined, { signal }).catch(() => undefined);
}

async function perform<F extends StageFacts>(
  facts: F,
  send: (facts: F, action: Sent) => Promise<void>,
  action: StageAction,
): Promise<void> {
  const { host, life } = facts;
  switch (action.kind) {
    case 'killWorker':
      life.die();
      return host.replace();
    case 'restartWorker':
      return host.restart(action.downMs ?? 0);
    case 'advance':
      if (host.time === undefined) throw new Error('Time cannot be moved on this server.');
      return host.time.advance(action.ms);
    default:
      return send(facts, action).catch((error: unknown) => {
        if (!isUnheard(error)) throw error;
      });
  }
}

/** Who has ended hears nothing any more, and a goal refuses what it may not do: as in the simulation. */
function isUnheard(error: unknown): boolean {
  if (!(error instanceof HoldfastError)) return false;
  return error.details?.ended === true || REFUSED.includes(error.code);
}

const REFUSED: readonly string[] = ['MessageRefused', 'StalePlan'];

export function sendToRun({ run, ...facts }: RunFacts, action: Sent): Promise<void> {
  const { life, host } = facts;
  if (action.kind !== 'resolveApproval' && action.kind !== 'provideInput') {
    return tellRun(run, facts, action);
  }
  const runs = new Map(life.runs().map((id) => [id, life.events(id)]));
  const answered = answeredRun(action, run.runId, runs);
  return tellRun(answered === run.runId ? run : host.client.handle(answered), facts, action);
}

export async function tellRun(
  run: RunHandle,
  { host, life }: StageFacts,
  action: Sent,
): Promise<void> {
  const { runId } = run;
  switch (action.kind) {
    case 'interrupt':
      return run.interrupt();
    case 'cancel':
      return run.cancel();
    case 'close':
      return run.close();
    case 'userMessage':
      await run.sendMessage(action.text, { attachments: attachmentsOf(action.files ?? []) });
      return;
    case 'resolveApproval': {
      const decision = decisionOf(action, { runId, events: life.events(runId), now: host.now() });
      // Two equal decisions are two: a person may say the same thing twice.
      await host.decide(runId, { ...decision, nonce: randomUUID() });
      return;
    }
    case 'provideInput': {
      const { call, value } = action;
      const askId = inputAskFor(call, life.events(runId))?.askId ?? `${runId}:${call}`;
      // As it is: an answer to a question that nobody has asked is for the run to judge.
      return run.provideInput({ askId, value, by: 'person' });
    }
    case 'setPermissionMode':
      return run.setPermissionMode(action.mode);
    case 'setModel':
      return run.setModel(action.model);
    case 'setMaxThinkingTokens':
      return run.setMaxThinkingTokens(action.tokens);
    case 'continueAsNew':
      return run.nextSegment();
    default:
      throw new Error(`${action.kind} is said to goals`);
  }
}
