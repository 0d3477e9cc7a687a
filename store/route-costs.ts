/** What a run paid for replies of models, by route: added up from its events. */
import { addUsage } from '../core/money/budget.js';
import type { RunEvent } from '../core/state/event.js';
import { NO_USAGE, type Usage } from '../core/state/model.js';
import { checkIdentifiers } from './bounds.js';
import type { RunName } from './changes.js';
import { rowsOf, type Db } from './database.js';

export interface RouteCost {
  /** The model's name. */
  readonly model: string;
  /** Replies. */
  readonly calls: number;
  readonly usage: Usage;
  readonly costMicroUsd: number;
}

export interface RouteCosts {
  /** Dearest first. Of what a reset took back, nothing; summaries, judges and tools are in no route. */
  routeCosts(run: RunName): Promise<readonly RouteCost[]>;
}

const PAGE_ROWS = 500;

/** Mostly replies; what only has arguments of that form is told apart when it is read. */
const REPLIES = `
  select body from events where tenant = @tenant and run_id = @runId and superseded = 0 and seq > @after
    and body like '%"type":"model_response"%' order by seq limit ${PAGE_ROWS}`;

export function routeCosts(db: Db): RouteCosts {
  return {
    async routeCosts({ tenant, runId }) {
      checkIdentifiers({ tenant, runId });
      const costs = new Map<string, RouteCost>();
      for (let after = -1; ;) {
        const rows = await rowsOf<{ readonly body: string }>(db, REPLIES, { tenant, runId, after });
        const replies = rows.map(({ body }) => JSON.parse(body) as RunEvent);
        for (const event of replies) addReply(costs, event);
        const last = replies.at(-1);
        if (last === undefined || rows.length < PAGE_ROWS) return byCost([...costs.values()]);
        after = last.stamp.seq;
      }
    },
  };
}

function addReply(costs: Map<string, RouteCost>, event: RunEvent): void {
  if (event.type !== 'model_response') return;
  const { model, usage, costMicroUsd } = event;
  costs.set(model, sumOf(costs.get(model), { model, calls: 1, usage, costMicroUsd }));
}

/** Of several runs. */
export function addedRoutes(all: Iterable<RouteCost>): readonly RouteCost[] {
  const costs = new Map<string, RouteCost>();
  for (const one of all) costs.set(one.model, sumOf(costs.get(one.model), one));
  return byCost([...costs.values()]);
}

function sumOf(before: RouteCost | undefined, more: RouteCost): RouteCost {
  return {
    model: more.model,
    calls: (before?.calls ?? 0) + more.calls,
    usage: addUsage(before?.usage ?? NO_USAGE, more.usage),
    costMicroUsd: (before?.costMicroUsd ?? 0) + more.costMicroUsd,
  };
}

function byCost(costs: readonly RouteCost[]): readonly RouteCost[] {
  return costs.toSorted((a, b) => b.costMicroUsd - a.costMicroUsd || (a.model < b.model ? -1 : 1));
}
