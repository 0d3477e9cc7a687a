/** A desk with its page over goals as the store has them; what is on the way to a goal is not looked at here. */
import { createHash } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { checkedPace } from '../../../authoring/goal/pace.js';
import { parseConsole } from '../../../authoring/index.js';
import type { AskDecision, HoldfastClient } from '../../../client/index.js';
import { joinerOver } from '../../../client/read/joiner.js';
import { startConsole } from '../../../console/index.js';
import { HoldfastError } from '../../../core/state/errors.js';
import type { Plan } from '../../../core/state/goal/memory.js';
import type { GoalView } from '../../../core/state/goal/view.js';
import { openStoreAt, type Store } from '../../../store/store.js';
import { builtPageFolder } from '../../built-page.js';
import { GOAL, storeGoal, type StoredGoal } from '../../console/stored-goal.js';
import { startBrowser, visit, type VisitOptions, type Visitor } from './browser.js';

/** What somebody has said over the page. */
export interface SaidToGoal {
  readonly said: string;
  readonly args: readonly unknown[];
}

export interface GoalStage {
  readonly store: Store;
  readonly url: string;
  readonly told: readonly SaidToGoal[];
  readonly goal: StoredGoal;
  /** As the goal tells itself; undefined: no worker answers. */
  view: GoalView | undefined;
  /** Somebody else changes the plan. */
  replan(plan: Plan): Promise<void>;
  open(path: string, options?: Partial<VisitOptions>): Promise<Visitor>;
  stop(): Promise<void>;
}

const TOKEN = 'hf_service_rita';
const LOOK_MS = 200;

export async function setGoalStage(): Promise<GoalStage> {
  const folder = mkdtempSync(join(tmpdir(), 'holdfast-goals-'));
  const store = await openStoreAt(join(folder, 'store.db'));
  const goal = await storeGoal(store);
  const serviceTokens = join(folder, 'tokens.json');
  const sha256 = createHash('sha256').update(TOKEN).digest('hex');
  const rita = { name: 'rita', tenant: 'default', roles: ['manager'], sha256 };
  writeFileSync(serviceTokens, JSON.stringify({ v: 1, tokens: [rita] }));
  const told: SaidToGoal[] = [];
  const stage = { view: goal.view as GoalView | undefined };
  const client = clientOver(store, { goal, told, viewNow: () => stage.view });
  const [browser, running] = await Promise.all([
    startBrowser(),
    startConsole({
      client,
      store,
      settings: parseConsole({ port: 0, serviceTokens }),
      version: '0.0.0-test',
      localRoles: [],
      pageFolder: builtPageFolder(),
      say: () => undefined,
    }),
  ]);
  const { url } = running;
  return Object.assign(stage, {
    store,
    url,
    told,
    goal,
    async replan(plan: Plan) {
      const memory = await goal.replan(plan);
      const { revision, steps } = plan;
      stage.view = { ...goal.view, memory, plan: { ...goal.view.plan, revision } };
      const facts = { open: steps.length, done: 0, all: steps.length };
      await goal.tell({ type: 'plan_changed', by: 'agent', revision, memory, steps: facts });
    },
    open: (path: string, more: Partial<VisitOptions> = {}) =>
      visit(browser, { url, token: TOKEN, path, ...more }),
    async stop() {
      await browser.close();
      await running.stop();
      await store.close();
      rmSync(folder, { recursive: true, force: true });
    },
  });
}

interface Behind {
  readonly goal: StoredGoal;
  readonly told: SaidToGoal[];
  readonly viewNow: () => GoalView | undefined;
}

/** As far as the routes of goals use it. */
function clientOver(store: Store, { goal, told, viewNow }: Behind): HoldfastClient {
  const handle = {
    state: async () => viewNow() ?? Promise.reject(new Error('no worker')),
    events: (options: { since: number; signal: AbortSignal }) => eventsOf(store, options),
    async decideOn({ askId, decision, by }: AskDecision & { by: string; askId: string }) {
      const outcome = decision === 'approve' ? 'approved' : 'rejected';
      told.push({ said: outcome, args: [askId] });
      await goal.tell({ type: 'approval_resolved', askId, outcome, by: [by], waitedMs: 1 });
      return { delivered: 'update', verdict: { accepted: true, outcome } };
    },
  };
  const goalHandle = new Proxy(handle as object, {
    get: (target, name) =>
      Reflect.get(target, name) ??
      (async (...args: readonly unknown[]) => {
        if (name === 'setPace') checkedPace(args[0]);
        if (name === 'setPlan') refuseStale(viewNow(), args.at(-1));
        told.push({ said: String(name), args: args.slice(0, -1) });
        return { delivered: 'update', id: (args.at(-1) as { readonly id: string }).id };
      }),
  });
  const own = {
    namespace: 'default',
    ownRun: async () => handle,
    handle: () => handle,
    goal: () => goalHandle,
    waits: async () => [],
    listAsks: (query: object) =>
      store.listAsks('default', { limit: 100, ...query, pendingOnly: true }),
    ...joinerOver({ store, tenant: 'default', client: async () => 'No server answers.' }),
  };
  return { ...own, forTenant: () => own } as unknown as HoldfastClient;
}

/** As the goal does. */
function refuseStale(view: GoalView | undefined, options: unknown): void {
  const { revision } = options as { readonly revision?: number };
  const now = view?.plan.revision;
  if (revision === undefined || revision === now) return;
  const message = `The goal takes no such message: the plan has revision ${now}, and ${revision} was looked at.`;
  throw new HoldfastError('StalePlan', message, {
    hint: 'Look at the plan again.',
    details: { reason: 'stale_plan' },
  });
}

async function* eventsOf(
  store: Store,
  { since, signal }: { readonly since: number; readonly signal: AbortSignal },
) {
  let sinceSeq = since;
  while (!signal.aborted) {
    const run = { tenant: 'default', runId: GOAL };
    const { events, nextSeq } = await store.readEvents(run, { sinceSeq, limit: 100 });
    yield* events;
    sinceSeq = Math.max(sinceSeq, nextSeq);
    if (events.length === 0) await sleep(LOOK_MS);
  }
}
