/** A world whose store can be taken away from its worker, its client and its desk, while the test still reads it. */
import { connect, type HoldfastClient } from '../../../client/index.js';
import type { RunHandle } from '../../../client/runs/run-handle.js';
import { openStoreAt } from '../../../store/store.js';
import { startTcpProxy } from '../../../testing/index.js';
import { newPostgresUrl } from '../../postgres-server.js';
import { sceneOf, type Scene } from './open-question.js';
import { holdfast, type Spoken } from './command.js';
import { startDesk, type TestDesk } from './desk.js';
import { startWorld, until, type World } from './world.js';

export interface AwayWorld {
  readonly world: World;
  /** Of the same store, over the line that can be cut. */
  readonly client: HoldfastClient;
  readonly desk: TestDesk;
  readonly scene: Scene;
  /** With a key of its own, which runs that have begun do not know. */
  anotherDesk(): Promise<TestDesk>;
  /** Connections are refused from now on. */
  takeAway(): void;
  /** Nothing answers from now on, and nobody is told. */
  silence(): void;
  bringBack(): void;
  holdfast(...words: readonly string[]): Promise<Spoken>;
  /** The run's events so far are in the store, and it carries none. */
  quiet(run: RunHandle): Promise<void>;
  stop(): Promise<void>;
}

export async function startAwayWorld(): Promise<AwayWorld> {
  const url = await newPostgresUrl();
  const proxy = await startTcpProxy({ target: url });
  const place = url.replace(new URL(url).host, proxy.address);
  const world = await startWorld({ worker: false, storePlace: url });
  await world.serve({ storePlace: place });
  const store = await openStoreAt(place);
  const client = await connect({ ...world.place, ...world.patience, store });
  const desk = await startDesk({ ...world, store });
  const others: TestDesk[] = [];
  return {
    world,
    client,
    desk,
    scene: sceneOf(world, desk),
    async anotherDesk() {
      const other = await startDesk({ ...world, store });
      others.push(other);
      return other;
    },
    takeAway() {
      proxy.refuse();
      proxy.cut();
    },
    silence: () => proxy.stall(),
    bringBack: () => proxy.restore(),
    async holdfast(...words) {
      return holdfast({ ...world.place, store: place }, words);
    },
    async quiet(run) {
      await until('everything in the store', async () => {
        const [events, view] = await Promise.all([world.events(run.runId), run.state()]);
        return events.length === view.events && view.inFlight.every(({ kind }) => kind === 'timer')
          ? true
          : undefined;
      });
    },
    async stop() {
      proxy.restore();
      await Promise.all([desk, ...others].map((one) => one.stop()));
      await client.close();
      await store.close();
      await world.stop();
      await proxy.stop();
    },
  };
}
