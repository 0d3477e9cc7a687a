/** A desk with its page: a real Temporal server, a worker, the shop of the refund example, a browser. */
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Browser } from 'playwright-core';
import { defineConfig, type Config } from '../../../authoring/index.js';
import { deskForks } from '../../../cli/desk/desk-forks.js';
import { deskLogins } from '../../../connectors/desk-logins.js';
import { survey } from '../../../connectors/survey.js';
import { openBooks, type Books } from '../../../examples/refund/shop/books.js';
import { createShopServer } from '../../../examples/refund/shop/server.js';
import {
  createAnthropicProvider,
  type WorkerEntrySettings,
  type WorkerProcess,
} from '../../../testing/index.js';
import {
  startDesk,
  tokenOf,
  type DeskOptions,
  type Name,
  type TestDesk,
} from '../../integration/support/desk.js';
import {
  call,
  say,
  startWorld,
  type World,
  type WorldOptions,
} from '../../integration/support/world.js';
import { startBrowser, visit, type VisitOptions, type Visitor } from './browser.js';
import { config, toolsOf } from './shop.js';

export interface Stage {
  readonly world: World;
  readonly books: Books;
  desk(): TestDesk;
  /** Another console at the same address. */
  restartDesk(): Promise<void>;
  stopDesk(): Promise<void>;
  spawnWorker(over?: Partial<WorkerEntrySettings>): Promise<WorkerProcess>;
  open(as: Name, options?: Partial<VisitOptions>): Promise<Visitor>;
  stop(): Promise<void>;
}

export interface StageOptions {
  /** Default true: a worker in this process. */
  readonly worker?: boolean;
  /** Default false: see `startWorld`. */
  readonly ownServer?: boolean;
  /** Default: that of `startWorld`. */
  readonly patience?: Pick<WorldOptions, 'workerLimitMs'>;
  /** Served beside the shop, by the worker of this process. */
  readonly besides?: Config;
  /** Roles that decide; default: whoever has a role. */
  readonly deciders?: readonly string[];
  /** Of this configuration, which managers may approve tools of and log in. */
  readonly connectorsOf?: Config;
  /** Managers may start forks, which the desk makes with the scripted model. */
  readonly forks?: true;
}

function forksIn(world: World, loaded: Config): DeskOptions {
  const { client, store, place: reach, model } = world;
  const provider = createAnthropicProvider({ apiKey: 'scripted', baseUrl: model.baseUrl });
  const providers = () => Promise.resolve(new Map([[provider.name, provider]]));
  return {
    console: { access: { audit: ['auditor'], start: ['manager'] } },
    forks: deskForks({ client, reach, store, config: loaded, providers }),
  };
}

/** People come back from authorization servers: the desk has an address from the beginning. */
async function connectorsIn(world: World, loaded: Config): Promise<DeskOptions> {
  const { store } = world;
  const { connectors } = loaded;
  return {
    console: {
      access: { audit: ['auditor'], connectors: ['manager'] },
      port: await freePort(),
    },
    connectors: {
      names: [...connectors.keys()],
      look: (tenant, connector) => survey({ config: loaded, store, tenant, connector }),
      logins: deskLogins({ connectors, store, clock: Date.now }),
    },
  };
}

async function freePort(): Promise<number> {
  const probe = createServer().listen(0, '127.0.0.1');
  await once(probe, 'listening');
  const { port } = probe.address() as AddressInfo;
  probe.close();
  await once(probe, 'close');
  return port;
}

export async function setStage(options: StageOptions = {}): Promise<Stage> {
  const { worker = true, ownServer = false, besides, deciders, connectorsOf, forks } = options;
  const folder = mkdtempSync(join(tmpdir(), 'holdfast-page-'));
  const books = openBooks(join(folder, 'shop.db'));
  const shop = createShopServer(books).listen(0, '127.0.0.1');
  await once(shop, 'listening');
  const [world, browser] = await Promise.all([
    startWorld({ worker: false, ownServer, ...options.patience }),
    startBrowser(),
  ]);
  const shopUrl = `http://127.0.0.1:${(shop.address() as AddressInfo).port}`;
  const shopOptions = { shopUrl, serviceUrl: world.service.url };
  const loaded = together(config(shopOptions), besides);
  if (worker) await world.serve({ config: loaded });
  const tools = toolsOf(loaded);
  let desk = await startDesk(world, {
    tools,
    ...(deciders && { deciders }),
    ...(forks && forksIn(world, loaded)),
    ...(connectorsOf && (await connectorsIn(world, connectorsOf))),
  });
  const { signer, url } = desk;
  const port = Number(new URL(url).port);
  return {
    world,
    books,
    desk: () => desk,
    stopDesk: () => desk.stop(),
    async restartDesk() {
      desk = await startDesk(world, { tools, signer, trusted: false, console: { port } });
    },
    spawnWorker: (over = {}) =>
      world.spawn({
        configModule: join(__dirname, 'shop.ts'),
        configOptions: shopOptions,
        ...over,
      }),
    open: (as, more = {}) => visit(browser, { url, token: tokenOf(as), ...more }),
    async stop() {
      await endAll([() => browserEnd(browser), () => desk.stop(), () => world.stop()]);
      shop.close();
      shop.closeAllConnections();
      books.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

function together(shop: Config, besides: Config | undefined): Config {
  if (besides === undefined) return shop;
  return defineConfig({ agents: [...shop.agents.values(), ...besides.agents.values()] });
}

function browserEnd(browser: Browser): Promise<void> {
  return browser.close();
}

async function endAll(ends: readonly (() => Promise<void>)[]): Promise<void> {
  for (const end of ends) await end();
}

const ORDER = 'O-104';
export const CUSTOMER = 'ada@example.com';

/** A customer's message, and what the agent does about it. */
export const REFUND = {
  agent: 'refund',
  task: `${CUSTOMER} writes: "My order ${ORDER} arrived far too late. I want my money back." Refund what the policy gives.`,
  replies: [
    call('read_order', { orderId: ORDER }, `I will look at order ${ORDER} first.`),
    call('read_delivery_status', { orderId: ORDER }),
    call('search_refund_policy', { words: 'late delivery' }),
    call(
      'payments.issue_refund',
      {
        orderId: ORDER,
        amountCents: 8_950,
        reason: 'Delivered nine days late; section 2 of the policy.',
      },
      'The delivery was nine days late, so the policy gives the whole amount back.',
    ),
    say('We are sorry that your order reached you so late. We have refunded the full amount.'),
  ],
} as const;

export const transfer = (tool: string, over: { [name: string]: string | number } = {}) =>
  call(tool, {
    recipient: 'DE02 1203 0000 0000 2020 51',
    amountCents: 125_000,
    currency: 'EUR',
    ...over,
  });
