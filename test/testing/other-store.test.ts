/**
 * The store of a run is replaced while a payment is under way: by another one, by an older copy of itself that nobody
 * declared, or by one that somebody did. Nothing is paid twice (G116).
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { z } from 'zod';
import { defineAgent, defineConfig, defineTool } from '../../authoring/index.js';
import { NO_USAGE } from '../../core/state/model.js';
import type { Provider } from '../../providers/provider.js';
import { openStore, type Store } from '../../store/store.js';
import {
  type SeamPoint,
  SIMULATION_START,
  startSimulation,
  type Simulation,
} from '../../testing/simulation/index.js';

const HOUR = 3_600_000;
const RUN_ID = 'run_1';

let folder: string;
let open: Store[];
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'holdfast-stores-'));
  open = [];
});
afterEach(async () => {
  for (const store of open) await store.close();
  rmSync(folder, { recursive: true });
});

async function storeAt(name: string): Promise<Store> {
  const store = await openStore({ file: join(folder, name) });
  open.push(store);
  return store;
}

/** The file of a store as it is at this moment. */
function copy(from: string, to: string): void {
  const database = new Database(join(folder, from));
  database.prepare('vacuum into ?').run(join(folder, to));
  database.close();
}

/** Where workers find a store: whatever has that place now. */
interface Place {
  store: Store;
}

function storeIn(place: Place): Store {
  const names = Object.keys(place.store) as (keyof Store)[];
  const calls = names.map((name) => [
    name,
    name === 'live'
      ? place.store.live
      : (...given: never[]) => (place.store[name] as (...args: never[]) => unknown)(...given),
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
  readonly paid?: (simulation: Simulation) => Promise<void>;
  /** Of a person who is asked; default: it happened. */
  readonly answer?: 'happened' | 'not_happened';
  /** The starter's. */
  readonly starter?: string;
}

async function play(place: Place, story: Story) {
  const { idempotency = 'keyed', dyingAt = 'after_effect', answer = 'happened' } = story;
  const { effect = 'financial', handedOver, paying, paid, starter } = story;
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
      await paying?.();
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
    store: storeIn(place),
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
      void paid?.(simulation);
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

test('another store waits for the right one, and nothing is paid twice', async () => {
  const own = await storeAt('own.db');
  const other = await storeAt('other.db');
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

test("a run is opened with the starter's store alone", async () => {
  const own = await storeAt('own.db');
  const other = await storeAt('other.db');
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
    const place: Place = { store: await storeAt('own.db') };
    const { final, simulation, payments, asked } = await play(place, {
      idempotency,
      handedOver: () => copy('own.db', 'older.db'),
      paid: async () => void (place.store = await storeAt('older.db')),
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
    const place: Place = { store: await storeAt('own.db') };
    const { final, simulation, payments, asked } = await play(place, {
      idempotency,
      handedOver: () => copy('own.db', 'older.db'),
      paying: async () => void (place.store = await storeAt('older.db')),
    });
    expect(final).toMatchObject(completed);
    expect(payments).toEqual(['lamp']);
    expect(asked).toEqual(['outcome']);
    expect(stepsIn(simulation)).toContain('store_restored');
    expect(await place.store.identity(0)).toMatchObject({ epoch: 2 });
  });

  test('an older copy that somebody declared asks a person', async () => {
    const place: Place = { store: await storeAt('own.db') };
    const { final, payments, asked, simulation } = await play(place, {
      idempotency,
      handedOver: () => copy('own.db', 'older.db'),
      paid: async () => {
        place.store = await storeAt('older.db');
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
    const place: Place = { store: await storeAt('own.db') };
    const { final, payments, asked } = await play(place, {
      idempotency,
      answer: 'not_happened',
      handedOver: () => copy('own.db', 'older.db'),
      paid: async () => {
        place.store = await storeAt('older.db');
        await place.store.raiseEpoch({ at: 0, by: 'mia', reason: 'the disk broke' });
      },
    });
    expect(final).toMatchObject(completed);
    expect(asked).toEqual(['outcome']);
    expect(payments).toEqual(['lamp', 'lamp']);
  });

  test('a store that adopts the run takes what it lacks for unknown', async () => {
    const place: Place = { store: await storeAt('own.db') };
    const { final, payments, asked, simulation } = await play(place, {
      idempotency,
      handedOver() {
        copy('own.db', 'other.db');
        const database = new Database(join(folder, 'other.db'));
        database.prepare('update store_identity set id = ?').run('f'.repeat(32));
        database.close();
      },
      paid: async ({ clock }) => {
        const other = await storeAt('other.db');
        place.store = other;
        const adoption = { tenant: 'default', runId: RUN_ID, at: 0, by: 'mia' };
        clock.after(3 * HOUR, () => void other.adoptRun(adoption));
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
  const place: Place = { store: await storeAt('own.db') };
  const { final, payments, asked } = await play(place, {
    effect: 'write',
    handedOver: () => copy('own.db', 'older.db'),
    paid: async () => {
      place.store = await storeAt('older.db');
      await place.store.raiseEpoch({ at: 0, by: 'mia', reason: 'the disk broke' });
    },
  });
  expect(final).toMatchObject(completed);
  expect(asked).toEqual([]);
  expect(payments).toEqual(['lamp', 'lamp']);
});

test('in its own store a call without a claim did not happen, and nobody is asked', async () => {
  const place: Place = { store: await storeAt('own.db') };
  const dyingAt = 'before_claim';
  const { final, payments, asked } = await play(place, { dyingAt, paid: async () => undefined });
  expect(final).toMatchObject(completed);
  expect(payments).toEqual(['lamp']);
  expect(asked).toEqual([]);
});
