/** The stage that a simulation gives to the doubles of its case. */
import {
  parseDecision,
  parseProvidedInput,
  parseUserMessage,
} from '../../core/messages/parse-message.js';
import type { Message, Simulation } from '../../testing/simulation/index.js';
import type { RunEvent } from '../../core/state/event.js';
import { attachmentsOf } from '../case-files.js';
import type { GoalAction } from '../goal-case.js';
import { answeredRun } from '../run-tree.js';
import { decisionOf, inputAskFor } from '../scripted/decisions.js';
import { isSaidToGoal } from '../scripted/goal-start.js';
import type { Stage, StageAction, StageWorker } from '../scripted/stage.js';

/** What a simulation of a run and one of a goal have in common. */
export type Simulated = Pick<Simulation, 'clock' | 'workers' | 'continueAsNew'>;

/** What is said to a run or a goal; everything else happens to its world. */
export type Sent = Exclude<
  StageAction,
  { kind: 'advance' | 'killWorker' | 'restartWorker' | 'continueAsNew' }
>;

/** `simulation` is there as soon as anything happens. */
export function simulatedStage<S extends Simulated>(
  simulation: () => S,
  send: (simulation: S, action: Sent) => void,
): Stage {
  return {
    now: () => simulation().clock.now(),
    worker: () => workerOf(simulation()),
    perform: (action) => perform(simulation(), send, action),
  };
}

/** The worker that serves now; its timers die with it. */
function workerOf(simulation: Simulated): StageWorker {
  const worker = simulation.workers.serving();
  const wait = (ms: number, signal?: AbortSignal): Promise<void> =>
    new Promise((resolve) => {
      const done = (): void => {
        cancel();
        signal?.removeEventListener('abort', done);
        if (isAlive()) resolve();
      };
      const cancel = simulation.clock.after(ms, done);
      signal?.addEventListener('abort', done, { once: true });
      if (signal?.aborted) done();
    });
  // A worker that drains serves no more and is alive all the same.
  const isAlive = (): boolean => worker === undefined || !worker.life.dead;
  const waitSome = (ms: number, signal: AbortSignal): Promise<void> =>
    ms === 0 && isAlive() ? Promise.resolve() : wait(ms, signal);
  return {
    wait: waitSome,
    // Virtual time brings everybody's turn by itself.
    waitAsCall: (_, ms, signal) => waitSome(ms, signal),
    settle: (signal) => wait(0, signal),
    async together(act) {
      await act();
      if (!isAlive()) await new Promise(() => undefined);
    },
    onDeath: (then) => worker?.life.onDeath(then),
    die() {
      if (isAlive()) simulation.workers.kill();
      return new Promise(() => undefined);
    },
  };
}

async function perform<S extends Simulated>(
  simulation: S,
  send: (simulation: S, action: Sent) => void,
  action: StageAction,
): Promise<void> {
  switch (action.kind) {
    case 'advance':
      return new Promise((resolve) => {
        simulation.clock.after(action.ms, resolve);
      });
    case 'killWorker':
      return simulation.workers.kill();
    case 'restartWorker':
      return simulation.workers.restart(action.downMs);
    case 'continueAsNew':
      return simulation.continueAsNew();
    default:
      return send(simulation, action);
  }
}

/** What can be said to a single run. */
export type SentToRun = Exclude<Sent, GoalAction>;

export interface Listening {
  readonly runId: string;
  readonly events: readonly RunEvent[];
  /** ms since epoch. */
  readonly now: number;
}

export function sendToRun(simulation: Simulation, action: Sent): void {
  if (isSaidToGoal(action)) throw new Error(`${action.kind} is said to goals`);
  const { clock, members } = simulation;
  const root = simulation.run().runId;
  const runs = new Map([...members].map(([id, { process }]) => [id, process.events]));
  const answers = action.kind === 'resolveApproval' || action.kind === 'provideInput';
  const runId = answers ? answeredRun(action, root, runs) : root;
  const events = runs.get(runId) ?? [];
  simulation.send(messageOf({ runId, events, now: clock.now() }, action), runId);
}

export function messageOf({ runId, events, now }: Listening, action: SentToRun): Message {
  switch (action.kind) {
    case 'interrupt':
    case 'close':
      return { type: action.kind };
    case 'cancel':
      return { type: 'cancel_requested' };
    case 'userMessage': {
      const { text, files } = action;
      const attached = files && { attachments: attachmentsOf(files) };
      const parsed = parseUserMessage({ text, ...attached });
      return parsed.ok
        ? { type: 'user_message', ...parsed.value }
        : { type: 'input_rejected', message: 'userMessage', reason: parsed.reason };
    }
    case 'resolveApproval': {
      const parsed = parseDecision(decisionOf(action, { runId, events, now }));
      return parsed.ok
        ? { type: 'decision', decision: parsed.value }
        : { type: 'input_rejected', message: 'resolveApproval', reason: parsed.reason };
    }
    case 'setModel':
      return { type: 'set_model', model: action.model };
    case 'setPermissionMode':
      return { type: 'set_permission_mode', mode: action.mode };
    case 'setMaxThinkingTokens':
      return { type: 'set_max_thinking_tokens', tokens: action.tokens };
    case 'provideInput': {
      const { call, value } = action;
      const askId = inputAskFor(call, events)?.askId ?? `${runId}:${call}`;
      const parsed = parseProvidedInput({ askId, value, by: 'person' });
      return parsed.ok
        ? { type: 'input_provided', ...parsed.value }
        : { type: 'input_rejected', message: 'provideInput', reason: parsed.reason };
    }
  }
}
