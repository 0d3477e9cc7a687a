/** A goal in memory: its core with scripted outcomes of every effect, under a clock that moves to the next thing. */
import { advance, receive } from '../../../core/goal/engine.js';
import { nextGoalSegment, NO_COUNTERS, openGoal } from '../../../core/goal/open.js';
import { isActivity, type ActivityEffect, type Effect } from '../../../core/state/effect.js';
import type { Failure } from '../../../core/state/failure.js';
import type { RunEvent } from '../../../core/state/event.js';
import { GOAL_BYTES_MAX, type Goal } from '../../../core/state/goal/goal.js';
import type { GoalInput } from '../../../core/state/goal/input.js';
import type { GoalMessage, MessageBody } from '../../../core/state/goal/message.js';
import type {
  AskJudgeOutput,
  CloseCycleInput,
  CloseCycleOutput,
  CycleOutcome,
  RunCheckOutput,
} from '../../../core/state/goal/payloads.js';
import type { GoalTerms } from '../../../core/state/goal/terms.js';
import { RULES_VERSION } from '../../../core/step/changes.js';
import { checkGoalStep, startGoalChecking } from '../../../pure/goal/invariants.js';
import { DEFAULT_STOP_RULES } from '../../../core/state/goal/definition.js';

export const START_AT = Date.UTC(2026, 0, 1);
const ROUNDS_MAX = 5_000;
const WORK_MS = 10;

type Bare<T> = Omit<T, 'eventsUpTo'>;

export interface CycleScript {
  readonly outcome?: Partial<CycleOutcome>;
  readonly close?: Partial<Bare<CloseCycleOutput>>;
  /** How long the child runs; default a minute. */
  readonly ms?: number;
  /** The signal of its end is lost. */
  readonly silent?: true;
  /** The child hears nothing that it is told. */
  readonly deaf?: true;
  /** The child waits for a person alone. */
  readonly waiting?: true;
}

export interface GoalScript {
  readonly terms?: Partial<GoalTerms>;
  /** One for each run of the check; the last repeats. */
  readonly checks?: { readonly [name: string]: readonly Bare<RunCheckOutput>[] };
  readonly cycles?: readonly CycleScript[];
  readonly judges?: readonly Bare<AskJudgeOutput>[];
  readonly reviews?: readonly Bare<AskJudgeOutput>[];
  readonly ticks?: readonly (number | null)[];
  /** `open_goal` is tried again and again. */
  /** With a reason: the attempt that is under way when the opening is cancelled fails for it. */
  readonly opensNever?: true | { readonly code: Failure['code'] };
  /** Numbers of the cycles whose ids were in use. */
  readonly taken?: readonly number[];
  /** Numbers of the cycles that ran before a reset. */
  readonly begun?: readonly number[];
  /** Places of the words that the briefs of those cycles do not have; default: all. */
  readonly unheard?: readonly number[];
  /** Which release writes the first brief, the second …; the last one writes all others. */
  readonly releases?: readonly string[];
  /** What was approved lies in the store no more. */
  readonly briefsGone?: true;
  /** A worker of an older release reads cycles that ran before a reset. */
  readonly unheardUnsaid?: true;
  /** How long a message is being stored, ms. */
  readonly storesFor?: number;
  /** Default: the newest. */
  readonly rules?: number;
}

export const TERMS: GoalTerms = {
  definition: 'd'.repeat(64),
  revision: 1,
  objective: 'All invoices are matched.',
  agent: 'clerk',
  handoffTo: [],
  done: { mode: 'all', conditions: [{ kind: 'check', name: 'open' }] },
  checks: [{ name: 'open', tool: 'open', timeoutMs: 60_000, better: 'lower' }],
  judges: [],
  budget: {
    maxCostMicroUsd: 1_000_000,
    hardMaxCostMicroUsd: 1_000_000,
    maxCycles: 10,
    deadlineMs: 'unlimited',
    maxModelCalls: 'unlimited',
    maxToolCalls: 'unlimited',
    maxInputTokens: 'unlimited',
    maxOutputTokens: 'unlimited',
    onBudget: 'stop',
    budgetRoles: [],
  },
  cycle: {
    maxCostMicroUsd: 100_000,
    minCostMicroUsd: 10_000,
    maxModelCalls: 'unlimited',
    maxToolCalls: 'unlimited',
    maxInputTokens: 'unlimited',
    maxOutputTokens: 'unlimited',
  },
  roundMicroUsd: 0,
  briefTokens: 8_000,
  reviewEvery: { cycles: 1 },
  pace: 'continuous',
  approval: [],
  stopRules: DEFAULT_STOP_RULES,
  unavailableMs: 7 * 86_400_000,
  closeMs: 600_000,
  maxAskedPauseMs: 7 * 86_400_000,
  requireProof: false,
  policyVersion: '1',
  versions: {},
};

export const count = (value: number, held: readonly number[] = []): Bare<RunCheckOutput> => ({
  known: true,
  held,
  value,
  digest: String(value),
});

interface Waiting {
  readonly due: number;
  readonly order: number;
  readonly id: string;
  readonly make: (at: number) => GoalInput;
}

export interface GoalShell {
  goal: Goal;
  readonly events: RunEvent[];
  readonly effects: Effect[];
  readonly rules: string[];
  now: number;
  largest: number;
}

export class ScriptedGoal implements GoalShell {
  goal: Goal;
  readonly events: RunEvent[] = [];
  readonly effects: Effect[] = [];
  readonly rules: string[] = [];
  now = START_AT;
  largest = 0;
  segments = 1;
  private waiting: Waiting[] = [];
  private orders = 0;
  private readonly counts = new Map<string, number>();
  private readonly children = new Map<
    string,
    { readonly endsAt: number; readonly script: CycleScript }
  >();
  private messages = 0;
  private checking = startGoalChecking();

  constructor(private readonly script: GoalScript) {
    const goal = {
      objective: 'All invoices are matched.',
      agent: 'clerk',
      done: { all: [] },
      budget: { maxCostMicroUsd: 1 },
    };
    this.goal = openGoal({ v: 1, goal, caller: 'anna' }, { goalId: 'g', at: START_AT });
    this.decide();
  }

  /** Goes on until `until` holds, or nothing can happen any more. */
  run(until: (shell: ScriptedGoal) => boolean = () => false): this {
    for (let round = 0; round < ROUNDS_MAX; round += 1) {
      const { final } = this.goal;
      if (final?.kind === 'continue_as_new') this.nextSegment();
      else if (final !== undefined || until(this)) return this;
      else {
        const next = this.waiting.toSorted((a, b) => a.due - b.due || a.order - b.order)[0];
        if (next === undefined) return this;
        this.waiting = this.waiting.filter((one) => one !== next);
        this.now = Math.max(this.now, next.due);
        this.take(next.make(this.now));
      }
    }
    throw new Error('this goal never comes to rest');
  }

  say(body: MessageBody, by = 'berta', roles: readonly string[] = []): this {
    this.messages += 1;
    const message: GoalMessage = {
      v: 1,
      id: `m${this.messages}`,
      by,
      roles,
      at: this.now,
      ...body,
    };
    this.take({ type: 'goal_message', message, at: this.now });
    return this;
  }

  decideAsk(decision: 'approve' | 'reject', by = 'berta', roles: readonly string[] = []): this {
    const [ask] = this.goal.asks;
    if (ask === undefined) throw new Error('nothing is asked');
    this.take({
      type: 'decision',
      decision: {
        v: 1,
        askId: ask.id,
        argsHash: ask.digest,
        decision,
        by,
        roles,
        decidedAt: this.now,
      },
      at: this.now,
    });
    return this;
  }

  take(input: GoalInput): void {
    this.goal = receive(this.goal, input);
    this.decide();
  }

  of<T extends RunEvent['type']>(type: T): readonly Extract<RunEvent, { type: T }>[] {
    return this.events.filter(
      (event): event is Extract<RunEvent, { type: T }> => event.type === type,
    );
  }

  private decide(): void {
    const step = advance(this.goal);
    const checked = checkGoalStep(this.checking, this.goal, step);
    if (checked.violations.length > 0) throw new Error(checked.violations.join('; '));
    this.checking = checked.state;
    this.goal = step.run;
    this.rules.push(...step.rules);
    for (const event of this.goal.outbox.events) {
      if (event.stamp.seq === this.events.length) this.events.push(event);
    }
    const { outbox: _, messages: __, unjudged: ___, ...state } = this.goal;
    this.largest = Math.max(this.largest, JSON.stringify(state).length);
    if (this.largest > GOAL_BYTES_MAX) throw new Error(`the goal has ${this.largest} bytes`);
    for (const effect of step.effects) this.perform(effect);
  }

  private nextSegment(): void {
    const { final: _, ...carried } = JSON.parse(JSON.stringify(this.goal)) as Goal;
    this.segments += 1;
    this.goal = nextGoalSegment(carried, { at: this.now, previousExecution: 'e' });
    this.decide();
  }

  private perform(effect: Effect): void {
    this.effects.push(effect);
    if (effect.kind === 'timer') {
      this.expect(effect.id, effect.at, (at) => ({ type: 'timer_fired', id: effect.id, at }));
    } else if (effect.kind === 'cancel') {
      this.cancel(effect.target);
    } else if (effect.kind === 'start_child') {
      const n = this.countOf('cycle');
      const script = nth(this.script.cycles ?? [{}], n);
      const endsAt = this.now + (script.ms ?? 60_000);
      this.children.set(effect.child, { endsAt, script });
      const existed = this.script.taken?.includes(n + 1) === true && { existed: true as const };
      this.expect(effect.id, this.now, (at) => ({
        type: 'child_started',
        id: effect.id,
        ...existed,
        at,
      }));
      if (!script.silent)
        this.expect(`end ${effect.child}`, endsAt, (at) => ({
          type: 'child_ended',
          child: effect.child,
          at,
        }));
    } else if (effect.kind === 'tell_child') {
      const child = this.children.get(effect.child);
      if (child === undefined || child.script.deaf) return;
      const stopReason = effect.message === 'cancel' ? 'aborted' : 'interrupted';
      const script = {
        ...child.script,
        outcome: { ...child.script.outcome, stopReason } as Partial<CycleOutcome>,
      };
      this.children.set(effect.child, { endsAt: this.now, script });
      this.expect(`told ${effect.child}`, this.now, (at) => ({
        type: 'child_ended',
        child: effect.child,
        at,
      }));
    } else if (isActivity(effect)) {
      const isLate = effect.kind === 'open_goal' && this.script.opensNever !== undefined;
      if (isLate) return this.expect(effect.id, Infinity, (at) => this.outcome(effect, at));
      const { storesFor = WORK_MS } = this.script;
      const ms = effect.kind === 'take_message' ? storesFor : WORK_MS;
      this.expect(effect.id, this.now + ms, (at) => this.outcome(effect, at));
    }
  }

  private cancel(target: string): void {
    const found = this.waiting.find(({ id }) => id === target);
    this.waiting = this.waiting.filter((one) => one !== found);
    if (found === undefined || target.startsWith('timer')) return;
    const { opensNever } = this.script;
    const failure: Failure =
      typeof opensNever === 'object' && target.startsWith('open_goal')
        ? { code: opensNever.code, message: 'away' }
        : { code: 'Aborted', message: 'cancelled', cancelled: true };
    this.expect(target, this.now, (at) => ({ type: 'effect_failed', id: target, failure, at }));
  }

  private expect(id: string, due: number, make: Waiting['make']): void {
    this.orders += 1;
    this.waiting.push({ id, due, order: this.orders, make });
  }

  private ranBefore(child: string): void {
    const script = nth(this.script.cycles ?? [{}], this.countOf('cycle'));
    this.children.set(child, { endsAt: START_AT, script });
  }

  private countOf(what: string): number {
    const n = this.counts.get(what) ?? 0;
    this.counts.set(what, n + 1);
    return n;
  }

  private outcome(effect: ActivityEffect, at: number): GoalInput {
    const { id } = effect;
    const eventsUpTo = (effect.input.events.at(-1)?.stamp.seq ?? -1) + 1;
    switch (effect.kind) {
      case 'open_goal': {
        const first = effect.input.segment === 0;
        const { rules = RULES_VERSION } = this.script;
        const terms = { ...TERMS, ...this.script.terms };
        const opened = first
          ? { terms, memory: 'm0', plan: { revision: 0, open: 0, done: 0, steps: 0 } }
          : {};
        return { type: 'goal_opened', id, output: { rules, ...opened, eventsUpTo }, at };
      }
      case 'prepare_cycle': {
        const { n, child, reads, approved } = effect.input;
        const release = nth(this.script.releases ?? [''], this.countOf('brief'));
        const written = JSON.stringify([n, reads.map((read) => read.id), release]);
        const digest = (this.script.briefsGone ? undefined : approved) ?? written;
        const brief = { hash: `b${n}`, digest, tokens: 100, sections: {} };
        const start = {
          v: 1,
          agent: effect.input.agent,
          task: { goal: 'g' },
          parent: { kind: 'goal', id: 'g', n, digest },
        } as const;
        const begun = this.script.begun?.includes(n) === true && { begun: true as const };
        if (begun) this.ranBefore(child);
        const { unheard = reads.map((_, place) => place) } = this.script;
        const said = begun && this.script.unheardUnsaid !== true && { unheard };
        const output = { brief, start, ...begun, ...said, eventsUpTo };
        return { type: 'cycle_prepared', id, output, at };
      }
      case 'close_cycle':
        return {
          type: 'cycle_closed',
          id,
          output: { ...this.closed(effect.input), eventsUpTo },
          at,
        };
      case 'run_check': {
        const { name } = effect.input;
        const scripts = this.script.checks?.[name] ?? [{ known: true, held: [] }];
        return {
          type: 'check_ran',
          id,
          output: { ...nth(scripts, this.countOf(`check ${name}`)), eventsUpTo },
          at,
        };
      }
      case 'ask_judge': {
        const { who, left } = effect.input;
        const scripts = (who === 'judge' ? this.script.judges : this.script.reviews) ?? [];
        const output = nth(scripts, this.countOf(who));
        // No question costs more than was reserved for it.
        const costMicroUsd = Math.min(output.costMicroUsd, left.costMicroUsd ?? Infinity);
        return { type: 'judge_answered', id, output: { ...output, costMicroUsd, eventsUpTo }, at };
      }
      case 'save_checkpoint':
        return {
          type: 'checkpoint_saved',
          id,
          output: {
            checkpoint: `c${effect.input.n}`,
            memory: effect.input.memory,
            ...(effect.input.held !== undefined && {
              held: `${effect.input.held} with checkpoint ${effect.input.n}`,
            }),
            eventsUpTo,
          },
          at,
        };
      case 'take_message': {
        const { message } = effect.input;
        const text =
          message.type === 'steer'
            ? {
                text: {
                  $blob: 'x',
                  bytes: message.text.length,
                  preview: message.text.slice(0, 20),
                },
              }
            : {};
        const plan =
          message.type === 'setPlan'
            ? {
                memory: 'mp',
                plan: {
                  revision: 1,
                  open: message.steps.length,
                  done: 0,
                  steps: message.steps.length,
                },
              }
            : {};
        return { type: 'message_taken', id, output: { ...text, ...plan, eventsUpTo }, at };
      }
      case 'find_tick':
        return {
          type: 'tick_found',
          id,
          output: {
            at: nth(this.script.ticks ?? [this.now + 86_400_000], this.countOf('tick')),
            eventsUpTo,
          },
          at,
        };
      case 'flush':
        return { type: 'flushed', id, output: { eventsUpTo }, at };
      case 'fetch_keys':
        return { type: 'keys_fetched', id, output: { deskKeys: [], eventsUpTo }, at };
      default:
        throw new Error(`a goal starts no ${effect.kind}`);
    }
  }

  private closed({ child: childId, last, slice }: CloseCycleInput): Bare<CloseCycleOutput> {
    const child = this.children.get(childId);
    if (child === undefined) return {};
    if (this.now < child.endsAt && !last) return child.script.waiting ? { waiting: true } : {};
    const { script } = child;
    const lost = this.now < child.endsAt;
    return {
      outcome: {
        status: 'completed',
        stopReason: 'completed',
        counters: { ...NO_COUNTERS, modelCalls: 1, turnCount: 1 },
        replied: true,
        doubt: 0,
        ...(lost && { stopReason: 'failed', detail: 'lost', unconfirmed: true as const }),
        ...script.outcome,
        // Its own budget sees to it.
        costMicroUsd: Math.min(slice.maxCostMicroUsd, script.outcome?.costMicroUsd ?? 1_000),
      },
      memory: `after ${childId}`,
      evidenceDigest: childId,
      ...script.close,
    };
  }
}

function nth<T>(list: readonly T[], index: number): T {
  const found = list[Math.min(index, list.length - 1)];
  if (found === undefined) throw new Error('nothing is scripted');
  return found;
}

export function playGoal(script: GoalScript = {}): ScriptedGoal {
  return new ScriptedGoal(script).run();
}
