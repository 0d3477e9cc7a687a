/** The events of a goal that are known, and what is drawn of them: money, measurements, cycles. Pure. */
import type { RunEvent } from '../data/api-types.js';

/** A point of a chart: its values in the order of the lines; null: none at that time. */
export interface Point {
  /** ms since epoch. */
  readonly at: number;
  readonly values: readonly (number | null)[];
}

type Ended = Extract<RunEvent, { type: 'cycle_ended' }>;
type Started = Extract<RunEvent, { type: 'cycle_started' }>;

export interface CycleShown {
  readonly n: number;
  readonly runId: string;
  readonly agent: string;
  readonly startedAt: number;
  readonly budget: Started['budget'];
  readonly ended?: {
    readonly at: number;
    readonly stopReason: string;
    readonly detail?: string | undefined;
    readonly costMicroUsd: number;
    readonly progress: Ended['progress'];
    readonly unconfirmed?: true | undefined;
  };
}

export class GoalEvents {
  events: RunEvent[] = [];
  /** Spent so far, and the budget. */
  money: Point[] = [];
  /** By the name of the check: its value, and the best so far. */
  measures = new Map<string, Point[]>();
  cycles = new Map<number, CycleShown>();
  #spent = 0;
  #budget: number | null = null;

  take(event: RunEvent): void {
    this.events.push(event);
    const { at } = event.stamp;
    switch (event.type) {
      case 'goal_started':
        this.#budget = event.maxCostMicroUsd;
        this.#noteMoney(at);
        break;
      case 'cycle_started': {
        const { n, runId, agent, budget } = event;
        this.cycles.set(n, { n, runId, agent, budget, startedAt: at });
        break;
      }
      case 'cycle_ended':
        this.#spent += event.costMicroUsd;
        this.#noteMoney(at);
        this.#noteEnd(event);
        break;
      case 'goal_review':
        this.#spent += event.costMicroUsd ?? 0;
        if (event.costMicroUsd !== undefined) this.#noteMoney(at);
        break;
      case 'goal_steered':
        this.#noteBudget(event);
        break;
      case 'goal_result':
        this.#spent = event.result.costMicroUsd;
        this.#noteMoney(at);
        break;
      case 'check_finished':
        this.#noteMeasure(event);
        break;
      default:
    }
  }

  reset(fromSeq: number): void {
    const valid = this.events.filter(({ stamp }) => stamp.seq < fromSeq);
    this.events = [];
    this.money = [];
    this.measures = new Map();
    this.cycles = new Map();
    this.#spent = 0;
    this.#budget = null;
    for (const event of valid) this.take(event);
  }

  #noteMoney(at: number): void {
    this.money.push({ at, values: [this.#spent, this.#budget] });
  }

  #noteEnd({ n, stamp, stopReason, detail, costMicroUsd, progress, unconfirmed }: Ended): void {
    const cycle = this.cycles.get(n);
    if (cycle === undefined) return;
    const ended = { at: stamp.at, stopReason, detail, costMicroUsd, progress, unconfirmed };
    this.cycles.set(n, { ...cycle, ended });
  }

  #noteBudget({ control, value, stamp }: Extract<RunEvent, { type: 'goal_steered' }>): void {
    if (control !== 'setBudget') return;
    const { maxCostMicroUsd } = (value ?? {}) as { readonly maxCostMicroUsd?: unknown };
    if (typeof maxCostMicroUsd !== 'number') return;
    this.#budget = maxCostMicroUsd;
    this.#noteMoney(stamp.at);
  }

  #noteMeasure({ name, value, best, stamp }: Extract<RunEvent, { type: 'check_finished' }>): void {
    if (value === undefined && !this.measures.has(name)) return;
    const points = this.measures.get(name) ?? [];
    points.push({ at: stamp.at, values: [value ?? null, best ?? null] });
    this.measures.set(name, points);
  }
}
