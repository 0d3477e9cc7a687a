/**
 * The store of a run is replaced while a payment is under way: by another one, by an older copy of itself that nobody
 * declared, or by one that somebody did. Nothing is paid twice (G116). In PostgreSQL a copy is a dump that is restored.
 */
import { z } from 'zod';
import { defineAgent, defineConfig, defineTool } from '../../authoring/index.js';
import { NO_USAGE } from '../../core/state/model.js';
import type { Provider } from '../../providers/provider.js';
import { openStoreAt, type Store } from '../../store/store.js';
import {
  type SeamPoint,
  SIMULATION_START,
  startSimulation,
  type Simulation,
} from '../../testing/simulation/index.js';
import { databases, storeCopies, type StoreCopies } from '../store-copies.js';

const HOUR = 3_600_000;
const RUN_ID = 'run_1';

let copies: StoreCopies;
let places: Map<string, string>;
let open: Store[];

async function storeAt(name: string): Promise<Store> {
  const place = places.get(name) ?? (await copies.fresh());
  places.set(name, place);
  const store = await openStoreAt(place);
  open.push(store);
  return store;
}

/** The store as it is at this moment. */
function copy(from: string, to: string): void {
  places.set(to, copies.copyOf(places.get(from) ?? ''));
}

/** What takes real time: virtual time stands still meanwhile. */
function realTime() {
  const underWay = new Set<Promise<unknown>>();
  return {
    within<T>(work: T): T {
      if (!(work instanceof Promise)) return work;
      const ended: Promise<unknown> = work.then(
        () => underWay.delete(ended),
        () => underWay.delete(ended),
      );
      underWay.add(ended);
      return work;
    },
    outside: () => (underWay.size === 0 ? undefined : Promise.race(underWay)),
  };
}
type RealTime = ReturnType<typeof realTime>;

/** Where workers find a store: whatever has that place now. */
interface Place {
  store: Store;
}

function storeIn(place: Place, real: RealTime): Store {
  const names = Object.keys(place.store) as (keyof Store)[];
  const calls = names.map((name) => [
    name,
    name === 'live'
      ? place.store.live
      : (...given: never[]) =>
          real.within((place.store[name] as (...args: never[]) => unknown)(...given)),
  ]);
  return Object.fromEntries(calls) as Store;
}

/** One payment, then an answer. */
function providerOf(): Provider {
  let asked = 0;
  return {
    name: 'anthropic',
    complete: async ({ model }) => {
      asked += 1;
      return {
        blocks:
          asked === 1
            ? [{ type: 'tool_use', id: 'c1', tool: 'pay', args: { item: 'lamp' } }]
            : [{ type: 'text', text: 'Done.' }],
        raw: [],
        stop: asked === 1 ? 'tool_use' : 'end_turn',
        usage: { ...NO_USAGE, input: 100, output: 10 },
        usageSource: 'reported',
        model,
        incompleteCalls: 0,
      };
    },
  };
}

interface Story {
  /** Default: keyed. */
  readonly idempotency?: 'keyed' | 'none';
  /** Default: financial. */
  readonly effect?: 'financial' | 'write';
  /** When the payment is handed over, and nothing of it is claimed. */
  readonly handedOver?: () => void;
  /** Default: when the payment was made, before its result is recorded. */
  readonly dyingAt?: SeamPoint;
  /** While the payment is made; its worker lives on. */
  readonly paying?: () => Promise<void>;
  /** When the worker dies. */
  readonly paid?: (simulation: Simulation, real: RealTime) => Promise<void>;
  /** Of a person who is asked; default: it happened. */
  readonly answer?: 'happened' | 'not_happened';
  /** The starter's. */
  readonly starter?: string;
}

async function play(place: Place, story: Story) {
  const { idempotency = 'keyed', dyingAt = 'after_effect', answer = 'happened' } = story;
  const { effect = 'financial', handedOver, paying, paid, starter } = story;
  const real = realTime();
  const payments: string[] = [];
  const asked: string[] = [];
  let dies = paying === undefined;
  let isHandedOver = false;
  const pay = defineTool({
    name: 'pay',
    version: '1',
    effect,
    ...(idempotency === 'keyed' && { idempotency }),
    approval: 'never',
    input: z.object({ item: z.string() }),
    run: async ({ item }) => {
      payments.push(item);
      await real.within(paying?.());
      return 'paid';
    },
  });
  const agent = defineAgent({
    name: 'a',
    model: 'scripted/m',
    instructions: 'Serve.',
    tools: [pay],
    settings: { inputTimeoutMs: 48 * HOUR },
  });
  const provider = providerOf();
  const simulation: Simulation = startSimulation({
    store: storeIn(place, real),
    outside: real.outside,
    config: defineConfig({ agents: [agent] }),
    providers: new Map([[provider.name, provider]]),
    start: {
      v: 1,
      agent: 'a',
      task: { goal: 'Serve.', taskId: RUN_ID },
      ...(starter !== undefined && { store: starter }),
    },
    runId: RUN_ID,
    seam: (reached) => {
      if (reached !== dyingAt || !dies) return;
      dies = false;
      simulation.workers.kill('crash', HOUR);
      void real.within(paid?.(simulation, real));
    },
    onStep(_run, effects) {
      if (isHandedOver || !effects.some(({ kind }) => kind === 'execute_tool')) return;
      isHandedOver = true;
      handedOver?.();
    },
    onEvent(event) {
      if (event.type !== 'approval_requested' && event.type !== 'input_request') return;
      asked.push(event.kind);
      simulation.send({
        type: 'decision',
        decision: {
          v: 1,
          by: 'maria',
          roles: [],
          askId: event.askId,
          argsHash: event.argsHash,
          decision: answer,
          decidedAt: simulation.clock.now(),
        },
      });
    },
  });
  const final = await simulation.finish();
  return { final, simulation, payments, asked };
}

const completed = { kind: 'result', result: { stopReason: 'completed' } };
const stepsIn = ({ events }: Simulation): readonly string[] =>
  events.flatMap((event) =>
    event.type === 'tool_reconciled' ? event.steps.map(({ step }) => step) : [],
  );
const warnings = ({ events }: Simulation): readonly string[] =>
  events.flatMap((event) => (event.type === 'warning' ? [event.code] : []));

describe.each(databases())('in %s', (database) => {
  beforeEach(() => {
    copies = storeCopies(database);
    places = new Map();
    open = [];
  });
  afterEach(async () => {
    for (const store of open) await store.close();
    await copies.end();
  });
  // The end of a claim is looked for thousands of times, each in real time.
  const inFiles = database === 'sqlite' ? test : test.skip;

  inFiles('another store waits for the right one, and nothing is paid twice', async () => {
    const own = await storeAt('own');
    const other = await storeAt('other');
    const place: Place = { store: own };
    const { final, simulation, payments, asked } = await play(place, {
      paid: async ({ clock }) => {
        place.store = other;
        clock.after(9 * HOUR, () => (place.store = own));
      },
    });
    expect(final).toMatchObject(completed);
    expect(payments).toEqual(['lamp']);
    // The ledger knows that it was claimed, and nobody but a person knows the rest.
    expect(asked).toEqual(['outcome']);
    expect(simulation.clock.now() - SIMULATION_START).toBeGreaterThanOrEqual(9 * HOUR);
    expect(await other.listLedger('default', { runId: RUN_ID })).toEqual([]);
  });

  inFiles("a run is opened with the starter's store alone", async () => {
    const own = await storeAt('own');
    const other = await storeAt('other');
    const place: Place = { store: other };
    const { id } = await own.identity(0);
    const played = play(place, { starter: id, paid: async () => undefined });
    await new Promise((resolve) => setImmediate(resolve));
    expect(await other.getRun('default', RUN_ID)).toBeUndefined();
    place.store = own;
    expect((await played).final).toMatchObject(completed);
    expect(await other.getRun('default', RUN_ID)).toBeUndefined();
  });

  describe.each(['keyed', 'none'] as const)('with the idempotency %s', (idempotency) => {
    test('an older copy that lacks the claim which was told of asks a person', async () => {
      const place: Place = { store: await storeAt('own') };
      const { final, simulation, payments, asked } = await play(place, {
        idempotency,
        handedOver: () => copy('own', 'older'),
        paid: async () => void (place.store = await storeAt('older')),
      });
      expect(final).toMatchObject(completed);
      expect(payments).toEqual(['lamp']);
      expect(asked).toEqual(['outcome']);
      expect(stepsIn(simulation)).toContain('store_restored');
      expect(warnings(simulation)).toContain('store_restored');
      // All other runs know of it as well, and who looks into the trail.
      expect(await place.store.identity(0)).toMatchObject({ epoch: 2 });
      expect(await place.store.readAudit('*', { limit: 10 })).toMatchObject([
        { kind: 'store_restored', by: 'holdfast' },
      ]);
    });

    test('an older copy that takes the place of the store under a living worker asks a person', async () => {
      const place: Place = { store: await storeAt('own') };
      const { final, simulation, payments, asked } = await play(place, {
        idempotency,
        handedOver: () => copy('own', 'older'),
        paying: async () => void (place.store = await storeAt('older')),
      });
      expect(final).toMatchObject(completed);
      expect(payments).toEqual(['lamp']);
      expect(asked).toEqual(['outcome']);
      expect(stepsIn(simulation)).toContain('store_restored');
      expect(await place.store.identity(0)).toMatchObject({ epoch: 2 });
    });

    test('an older copy that somebody declared asks a person', async () => {
      const place: Place = { store: await storeAt('own') };
      const { final, payments, asked, simulation } = await play(place, {
        idempotency,
        handedOver: () => copy('own', 'older'),
        paid: async () => {
          place.store = await storeAt('older');
          await place.store.raiseEpoch({ at: 0, by: 'mia', reason: 'the disk broke' });
        },
      });
      expect(final).toMatchObject(completed);
      expect(payments).toEqual(['lamp']);
      expect(asked).toEqual(['outcome']);
      expect(stepsIn(simulation)).toContain('store_restored');
      expect(await place.store.identity(0)).toMatchObject({ epoch: 2 });
    });

    test('what a person says did not happen is done in the store as it is now', async () => {
      const place: Place = { store: await storeAt('own') };
      const { final, payments, asked } = await play(place, {
        idempotency,
        answer: 'not_happened',
        handedOver: () => copy('own', 'older'),
        paid: async () => {
          place.store = await storeAt('older');
          await place.store.raiseEpoch({ at: 0, by: 'mia', reason: 'the disk broke' });
        },
      });
      expect(final).toMatchObject(completed);
      expect(asked).toEqual(['outcome']);
      expect(payments).toEqual(['lamp', 'lamp']);
    });

    test('a store that adopts the run takes what it lacks for unknown', async () => {
      const place: Place = { store: await storeAt('own') };
      const { final, payments, asked, simulation } = await play(place, {
        idempotency,
        handedOver() {
          copy('own', 'other');
          const renamed = `update store_identity set id = '${'f'.repeat(32)}'`;
          copies.change(places.get('other') ?? '', renamed);
        },
        paid: async ({ clock }, real) => {
          const other = await storeAt('other');
          place.store = other;
          const adoption = { tenant: 'default', runId: RUN_ID, at: 0, by: 'mia' };
          clock.after(3 * HOUR, () => void real.within(other.adoptRun(adoption)));
        },
      });
      expect(final).toMatchObject(completed);
      expect(payments).toEqual(['lamp']);
      expect(asked).toEqual(['outcome']);
      expect(warnings(simulation)).toContain('run_adopted');
      expect(simulation.clock.now() - SIMULATION_START).toBeGreaterThanOrEqual(3 * HOUR);
    });
  });

  test('a write whose service recognises its key is repeated with the key in an older copy', async () => {
    const place: Place = { store: await storeAt('own') };
    const { final, payments, asked } = await play(place, {
      effect: 'write',
      handedOver: () => copy('own', 'older'),
      paid: async () => {
        place.store = await storeAt('older');
        await place.store.raiseEpoch({ at: 0, by: 'mia', reason: 'the disk broke' });
      },
    });
    expect(final).toMatchObject(completed);
    expect(asked).toEqual([]);
    expect(payments).toEqual(['lamp', 'lamp']);
  });

  test('in its own store a call without a claim did not happen, and nobody is asked', async () => {
    const place: Place = { store: await storeAt('own') };
    const dyingAt = 'before_claim';
    const { final, payments, asked } = await play(place, { dyingAt, paid: async () => undefined });
    expect(final).toMatchObject(completed);
    expect(payments).toEqual(['lamp']);
    expect(asked).toEqual([]);
  });
});
