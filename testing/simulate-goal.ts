/**
 * A goal under virtual time: months of it in seconds, without a server. The core and the activities are the real ones.
 * Invariant: time stands still while a model is asked, a tool works, a hook or a gate thinks; what never ends makes it stand for ever.
 */
import { isConfig, type Config } from '../authoring/index.js';
import { checkGoal, checkGoalId, type GoalRequest } from '../client/goals/check-goal.js';
import { checkedGoalMessage } from '../client/goals/goal-message.js';
import type { Json } from '../core/json/json.js';
import { parseDecision, parseProvidedInput } from '../core/messages/parse-message.js';
import { HoldfastError } from '../core/state/errors.js';
import type { RunEvent } from '../core/state/event.js';
import type { MessageBody } from '../core/state/goal/message.js';
import type { RunResult } from '../core/state/result.js';
import { needed, rules, type OptionRules } from '../pure/options.js';
import { openMemoryStore } from '../store/store.js';
import { checkFields } from './agent/check-test.js';
import { SCRIPT } from './agent/turns.js';
import { providersOfGoal, type GoalModels } from './goal-models.js';
import { codeIn, outsideWork, providersIn } from './outside-work.js';
import { refusal } from './refusal.js';
import {
  SIMULATION_START,
  startGoalSimulation,
  virtualClock,
  type GoalSimulation,
  type Message,
} from './simulation/index.js';
import { waitIn } from './virtual-wait.js';

/** A question to a person, as the event that asks it. */
export type AskedEvent = Extract<
  RunEvent,
  { readonly type: 'approval_requested' | 'input_request' }
>;

/** A person of the simulation. */
export interface SimulatedPerson {
  readonly by: string;
  readonly roles?: readonly string[];
  readonly reason?: string;
}

/**
 * What those outside of a simulated goal can do. Errors: AskNotFound for a question whose run is not at work (any more): nothing
 * would take the word.
 */
export interface GoalWorld {
  /** ms since epoch. */
  now(): number;
  /** Calls back when so many ms of virtual time have passed. */
  after(ms: number, then: () => void): void;
  /** `amount`: of a question about a budget, how much more in place of what is asked. */
  approve(ask: AskedEvent, person: SimulatedPerson & { readonly amount?: number }): void;
  reject(ask: AskedEvent, person: SimulatedPerson): void;
  /** Answers a question of the model, asked by a cycle or below one. */
  answer(ask: AskedEvent, value: Json, person: SimulatedPerson): void;
  /** As the handle of a goal does. Errors: InvalidTask. */
  say(said: MessageBody, person: SimulatedPerson): void;
}

/** What `simulateGoal` plays: a goal, its configuration, what models say and people do. */
export interface SimulatedGoalOptions extends GoalRequest, GoalModels {
  /** Of a function: tools that look at the clock take `now`, ms since epoch, in place of their own. */
  readonly config: Config | ((now: () => number) => Config);
  readonly goalId?: string;
  /** ms since epoch; default 2026-01-01. */
  readonly startAt?: number;
  /** Told every event of the goal, its cycles and their sub-agents when it happens. */
  readonly onEvent?: (event: RunEvent, world: GoalWorld) => void;
  /** Cancels the goal. */
  readonly signal?: AbortSignal;
}

/** How a goal that was played in virtual time has ended, with its events. */
export interface SimulatedGoal {
  readonly result: RunResult;
  /** Of the goal, its cycles and their sub-agents, in order. */
  readonly events: readonly RunEvent[];
  /** Invariants that did not hold, in words. */
  readonly violations: readonly string[];
  /** ms of virtual time. */
  readonly durationMs: number;
}

const OPTIONS: OptionRules<SimulatedGoalOptions> = {
  // The start of a goal checks these.
  ...rules('any goal definition tenant traceId caller from goalId'),
  ...rules('object agents, ms startAt, call onEvent, signal signal'),
  config: needed({
    is: 'what defineConfig gives, or (now) => …',
    fits: (value) => typeof value === 'function' || isConfig(value),
  }),
  model: SCRIPT,
  providers: { is: 'a Map of providers', fits: (value) => value instanceof Map },
};
const SPEAKER = rules('text! by, texts roles, words reason');
const PERSON = { ...SPEAKER, ...rules('amount amount') };

/**
 * Errors: InvalidTask; InvalidFixture: an option cannot be used, or nothing is scripted for a request; what refuses the goal; a goal that nothing can ever
 * wake. However the goal ends, that is no error.
 */
export async function simulateGoal(options: SimulatedGoalOptions): Promise<SimulatedGoal> {
  checkFields('simulateGoal', options, OPTIONS);
  const start = checkGoal(options);
  const goalId = checkGoalId(options.goalId);
  const startAt = options.startAt ?? SIMULATION_START;
  const clock = virtualClock(startAt);
  const { onEvent, signal } = options;
  const config = typeof options.config === 'function' ? options.config(clock.now) : options.config;
  const { counted, waiting } = outsideWork();
  const failed = new AbortController();
  const playing: { simulation?: GoalSimulation } = {};
  const providers = providersOfGoal(config, options, {
    agent: start.goal.agent,
    agentOf: (runId) => playing.simulation?.runOf(runId)?.frozen?.agent.name ?? start.goal.agent,
    wait: (ms, ending) => waitIn(clock, ms, ending),
    counted,
    fail: (error) => failed.abort(error),
  });
  const store = await openMemoryStore();
  const world = worldOf(() => playing.simulation!, goalId, clock);
  const tell = (event: RunEvent): void => onEvent?.(event, world);
  // What happens at the very start is told once the simulation is there.
  const early: RunEvent[] = [];
  const heard = (event: RunEvent): void => {
    if (playing.simulation === undefined) early.push(event);
    else tell(event);
  };
  try {
    const simulation = startGoalSimulation({
      store,
      config: codeIn(counted, config),
      providers: providersIn(counted, providers),
      outside: waiting,
      inRealTime: (work) => counted(work(), 'a folder'),
      signal: failed.signal,
      clock,
      start,
      goalId,
      onEvent: heard,
      ofCycle: { onEvent: heard },
      onAgentEvent: heard,
    });
    playing.simulation = simulation;
    early.forEach(tell);
    const cancel = (): void => simulation.send({ type: 'cancel_requested' });
    signal?.addEventListener('abort', cancel, { once: true });
    if (signal?.aborted) cancel();
    const final = await simulation.finish();
    // A goal that ends by itself after the test has failed is no result.
    failed.signal.throwIfAborted();
    if (final.kind === 'refused') throw refusal(final);
    return {
      result: final.result,
      events: simulation.tree,
      violations: simulation.violations(),
      durationMs: clock.now() - startAt,
    };
  } finally {
    await store.close();
  }
}

function worldOf(
  simulation: () => GoalSimulation,
  goalId: string,
  clock: Pick<ReturnType<typeof virtualClock>, 'now' | 'after'>,
): GoalWorld {
  let said = 0;
  const tell = (runId: string, message: Message): void => {
    if (!simulation().sendTo(runId, message)) throw untaken(runId);
  };
  const decide = (
    { askId, argsHash, stamp: { runId } }: AskedEvent,
    decision: 'approve' | 'reject',
    person: Parameters<GoalWorld['approve']>[1],
  ): void => {
    checkFields('A person', person, PERSON);
    const { by, roles = [], reason, amount } = person;
    const parsed = parseDecision({
      v: 1,
      askId,
      argsHash,
      decision,
      by,
      roles,
      decidedAt: clock.now(),
      ...(reason !== undefined && { reason }),
      ...(amount !== undefined && { amount }),
    });
    if (!parsed.ok) throw invalid(parsed.reason);
    const message = { type: 'decision', decision: parsed.value } as const;
    if (runId === goalId) simulation().send(message);
    else tell(runId, message);
  };
  return {
    now: clock.now,
    after: (ms, then) => void clock.after(ms, then),
    approve: (ask, person) => decide(ask, 'approve', person),
    reject: (ask, person) => decide(ask, 'reject', person),
    answer({ askId, stamp: { runId } }, value, person) {
      checkFields('A person', person, SPEAKER);
      const { by, roles = [] } = person;
      const parsed = parseProvidedInput({ askId, value, by, roles });
      if (!parsed.ok) throw invalid(parsed.reason);
      tell(runId, { type: 'input_provided', ...parsed.value });
    },
    say(body, person) {
      checkFields('A person', person, SPEAKER);
      const { by, roles = [] } = person;
      said += 1;
      const message = { v: 1, id: `said-${said}`, at: clock.now(), by, roles, ...body };
      simulation().send({ type: 'goal_message', message: checkedGoalMessage(message) });
    },
  };
}

function untaken(runId: string): HoldfastError {
  return new HoldfastError(
    'AskNotFound',
    `No run takes the word of the person: ${runId.slice(0, 128)} is no cycle at work and no run below one.`,
    {
      hint: 'Answer the event that `onEvent` is told, while its run is at work; questions of the goal itself, about its budget, take `approve` and `reject`.',
    },
  );
}

function invalid(why: string): HoldfastError {
  return new HoldfastError('InvalidTask', `The simulation cannot use this: ${why}.`, {
    hint: 'Correct what the person says.',
  });
}
