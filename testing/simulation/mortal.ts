/**
 * What a worker works with, wrapped so that its death ends everything that runs in it: whatever code of a
 * dead worker calls next, or waits for, never comes back. A transaction that is open then is rolled back.
 * Before and after the three writes that decide what happens once, a seam is told, and may kill.
 */
import type { ActivityDeps, Timers } from '../../activities/index.js';
import type { Config, Tool } from '../../authoring/index.js';
import type { Provider } from '../../providers/provider.js';
import type { Store, StoreCalls } from '../../store/store.js';
import { TRANSACTION_SEAMS, type SeamPoint } from '../seams.js';

export type Seam = (point: SeamPoint) => void;

export interface Life {
  readonly dead: boolean;
  /** Calls back when it ends. */
  readonly onDeath: (then: () => void) => void;
  readonly end: () => void;
}

export function newLife(): Life {
  let dead = false;
  let mourners: (() => void)[] = [];
  return {
    get dead() {
      return dead;
    },
    onDeath(then) {
      if (dead) then();
      else mourners.push(then);
    },
    end() {
      dead = true;
      const told = mourners;
      mourners = [];
      for (const then of told) then();
    },
  };
}

class WorkerDied extends Error {}

/** A promise of its own each time: one for all would keep everybody that ever waited for it. */
function never<T>(): Promise<T> {
  return new Promise(() => undefined);
}

function throwDied(): never {
  throw new WorkerDied('the worker died');
}

export function mortal(deps: ActivityDeps, life: Life, seam: Seam): ActivityDeps {
  const { timers } = deps;
  return {
    ...deps,
    store: mortalStore(deps.store, life, seam),
    providers: new Map([...deps.providers].map(([name, one]) => [name, provider(one, life)])),
    config: mortalConfig(deps.config, life, seam),
    ...(timers !== undefined && { timers: mortalTimers(timers, life) }),
  };
}

function mortalTimers(timers: Timers, life: Life): Timers {
  return {
    after: (ms, then) =>
      timers.after(ms, () => {
        if (!life.dead) then();
      }),
  };
}

function provider({ name, complete }: Provider, life: Life): Provider {
  return { name, complete: (request, progress) => while_(life, complete(request, progress)) };
}

/** What `work` comes to, if its worker still lives then. */
async function while_<T>(life: Life, work: Promise<T>): Promise<T> {
  try {
    const value = await work;
    return life.dead ? await never<T>() : value;
  } catch (error) {
    if (life.dead) return never();
    throw error;
  }
}

function mortalConfig(config: Config, life: Life, seam: Seam): Config {
  const wrap = (tool: Tool): Tool => ({
    ...tool,
    async run(input, ctx) {
      seam('before_effect');
      if (life.dead) return never();
      const value = await while_(life, tool.run(input, ctx));
      seam('after_effect');
      return life.dead ? never() : value;
    },
  });
  return { ...config, tools: new Map([...config.tools].map(([key, tool]) => [key, wrap(tool)])) };
}

type AnyCall = (...args: readonly unknown[]) => Promise<unknown>;

/** `lost` is what a call of a dead worker comes to. Each call is made at its first use: a transaction uses a few of many. */
function mortalCalls(calls: StoreCalls, life: Life, lost: () => Promise<never>): StoreCalls {
  const made = new Map<string | symbol, AnyCall>();
  const guarded = (call: AnyCall): AnyCall => {
    return async (...args) => {
      if (life.dead) return lost();
      const value = await call(...args);
      return life.dead ? lost() : value;
    };
  };
  return new Proxy(calls, {
    get(target, name) {
      const call: unknown = Reflect.get(target, name);
      if (typeof call !== 'function') return call;
      const known = made.get(name) ?? guarded(call as AnyCall);
      made.set(name, known);
      return known;
    },
  });
}

function mortalStore(store: Store, life: Life, seam: Seam): Store {
  const { together, health, close, live, watchEvents, ...calls } = store;
  const inside = new WeakMap<StoreCalls, StoreCalls>();
  const insideOf = (given: StoreCalls): StoreCalls => {
    const known = inside.get(given) ?? mortalCalls(given, life, throwDied);
    inside.set(given, known);
    return known;
  };
  return {
    ...mortalCalls(calls, life, never),
    health,
    close,
    live,
    watchEvents,
    together: async (work, step) => {
      const seams = step && TRANSACTION_SEAMS[step.step];
      if (seams !== undefined) seam(seams[0]);
      if (life.dead) return never();
      const value = await while_(
        life,
        together(async (given) => {
          const inside = await work(insideOf(given));
          // Nothing of a dead worker is committed.
          return life.dead ? throwDied() : inside;
        }, step),
      );
      if (seams !== undefined) seam(seams[1]);
      return life.dead ? never() : value;
    },
  };
}
