/** An approval desk over a world of a test: people of two tenants with tokens of their own. */
import { createHash, generateKeyPairSync } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseConsole, type ConsoleDefinition } from '../../../authoring/index.js';
import { connect } from '../../../client/index.js';
import { signerOf, type DeskSigner } from '../../../client/decide/desk-signer.js';
import {
  startConsole,
  type ConsoleOptions,
  type KnownTool,
  type Startable,
} from '../../../console/index.js';
import { builtPageFolder } from '../../built-page.js';
import { ALL_TENANTS } from '../../../store/desk-keys.js';
import type { World } from './world.js';

export interface TestDesk {
  readonly url: string;
  readonly signer: DeskSigner;
  /** What the console has said in its log. */
  readonly log: readonly string[];
  get(path: string, as?: Name, headers?: Record<string, string>): Promise<Reply>;
  post(path: string, body: unknown, more?: PostOptions): Promise<Reply>;
  stop(): Promise<void>;
}

interface PostOptions {
  readonly as?: Name;
  readonly key?: string;
  readonly headers?: Record<string, string>;
}

export interface Reply {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  readonly body: Readonly<Record<string, unknown>> | undefined;
}

const PEOPLE = {
  mia: { tenant: 'default', roles: ['manager'] },
  ann: { tenant: 'default', roles: ['manager', 'auditor'] },
  rita: { tenant: 'default', roles: ['refund-manager', 'manager'] },
  rolf: { tenant: 'default', roles: ['refund-manager', 'manager'] },
  clerk: { tenant: 'default', roles: ['clerk'] },
  nobody: { tenant: 'default', roles: [] },
  bob: { tenant: 'other', roles: ['manager', 'auditor'] },
} as const;
export type Name = keyof typeof PEOPLE;

export const tokenOf = (name: Name): string => `hf_service_${name}`;
export const idOf = (name: Name): string => `service:${name}`;

let nextKey = 1;
export const newKey = (): string => `request-${nextKey++}`;

export function newSigner(): DeskSigner {
  return signerOf(generateKeyPairSync('ed25519').privateKey);
}

export interface DeskOptions {
  readonly signer?: DeskSigner;
  /** Default true. */
  readonly trusted?: boolean;
  readonly console?: ConsoleDefinition;
  /** Roles that decide; default: whoever has a role. */
  readonly deciders?: readonly string[];
  readonly tools?: readonly KnownTool[];
  readonly startable?: Startable;
  readonly forks?: NonNullable<ConsoleOptions['forks']>;
  readonly connectors?: NonNullable<ConsoleOptions['connectors']>;
}

/** What a desk over the world works with, before it listens. */
export async function deskOptions(world: World, options: DeskOptions = {}) {
  const { signer = newSigner(), trusted = true } = options;
  const { store, place, patience } = world;
  if (trusted) {
    await store.addDeskKey({ tenant: ALL_TENANTS, ...signer.key, at: Date.now(), by: 'test' });
  }
  const folder = mkdtempSync(join(tmpdir(), 'holdfast-desk-'));
  const serviceTokens = join(folder, 'tokens.json');
  writeFileSync(serviceTokens, JSON.stringify({ v: 1, tokens: tokenRows() }));
  const client = await connect({ ...place, ...patience, store, signer });
  const log: string[] = [];
  const made: ConsoleOptions = {
    client,
    store,
    signer,
    settings: parseConsole({
      port: 0,
      serviceTokens,
      access: { audit: ['auditor'] },
      limits: { requestsPerMinute: 100_000, failedLoginsPerMinute: 10_000 },
      ...options.console,
    }),
    version: '0.0.0-test',
    localRoles: [],
    ...(options.deciders && { deciders: options.deciders }),
    tools: options.tools ?? [],
    ...(options.startable && { startable: options.startable }),
    ...(options.forks && { forks: options.forks }),
    ...(options.connectors && { connectors: options.connectors }),
    temporalUi: 'http://127.0.0.1:8233',
    pageFolder: builtPageFolder(),
    say: (line) => log.push(line),
  };
  return {
    options: made,
    signer,
    log,
    serviceTokens,
    async close() {
      await client.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

export async function startDesk(world: World, options: DeskOptions = {}): Promise<TestDesk> {
  const opened = await deskOptions(world, options);
  const { signer, log } = opened;
  const running = await startConsole(opened.options);
  const ask = async (path: string, init: RequestInit): Promise<Reply> => {
    const response = await fetch(`${running.url}${path}`, init);
    const text = await response.text();
    return { status: response.status, headers: response.headers, text, body: parsed(text) };
  };
  return {
    url: running.url,
    signer,
    log,
    get: (path, as = 'mia', headers = {}) =>
      ask(path, { headers: { authorization: `Bearer ${tokenOf(as)}`, ...headers } }),
    post: (path, body, { as = 'mia', key, headers = {} } = {}) =>
      ask(path, {
        method: 'POST',
        body: typeof body === 'string' ? body : JSON.stringify(body),
        headers: {
          authorization: `Bearer ${tokenOf(as)}`,
          'content-type': 'application/json',
          ...(key !== undefined && { 'idempotency-key': key }),
          ...headers,
        },
      }),
    async stop() {
      await running.stop();
      await opened.close();
    },
  };
}

function tokenRows() {
  return Object.entries(PEOPLE).map(([name, person]) => ({
    name,
    ...person,
    sha256: createHash('sha256')
      .update(tokenOf(name as Name))
      .digest('hex'),
  }));
}

function parsed(text: string): Reply['body'] {
  try {
    return JSON.parse(text) as Readonly<Record<string, unknown>>;
  } catch {
    return undefined;
  }
}
