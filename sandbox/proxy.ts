/**
 * The way out for commands that may reach named hosts: an HTTPS proxy on a socket that is shown in one sandbox.
 * Invariants: only CONNECT to a named host and port; the name is resolved here, and an address of this machine, of a
 * private network or of the link is refused, whatever the name; what cannot be held to this is refused when it is named.
 */
import { lookup as lookupName } from 'node:dns/promises';
import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { createServer, type IncomingMessage, type Server } from 'node:http';
import { BlockList, connect, isIP, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Duplex } from 'node:stream';
import { HoldfastError } from '../core/state/errors.js';

export interface NamedHost {
  readonly name: string;
  readonly port: number;
}

const HTTPS_PORT = 443;
const HOSTS_MAX = 50;
const NAME =
  /^(?=.{1,253}$)([a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z]([a-z0-9-]{0,61}[a-z0-9])?$/;
const CONNECTIONS_MAX = 64;
const IDLE_MS = 60_000;

/** `registry.npmjs.org`, or with a port. Errors: InvalidTool for what no proxy can hold a command to. */
export function parseHosts(written: readonly string[]): readonly NamedHost[] {
  if (!Array.isArray(written) || written.length > HOSTS_MAX)
    throw wrong(`The list has more than ${HOSTS_MAX} hosts, or is none`);
  return written.map((text) => {
    const [, name = '', port = String(HTTPS_PORT)] =
      /^([^:]*)(?::(\d{1,5}))?$/.exec(String(text)) ?? [];
    const number = Number(port);
    if (isIP(name) !== 0 || !NAME.test(name.toLowerCase()) || number < 1 || number > 65_535)
      throw wrong(`${JSON.stringify(text)} is no name of one host`);
    return { name: name.toLowerCase(), port: number };
  });
}

function wrong(what: string): HoldfastError {
  return new HoldfastError('InvalidTool', `${what}: a sandbox cannot be held to it.`, {
    hint: 'Name hosts one by one, as in registry.npmjs.org or example.org:8443: no addresses, no patterns, no localhost.',
  });
}

export interface Proxy {
  /** Has its socket, named `socket`. */
  readonly folder: string;
  close(): Promise<void>;
}

export interface ProxyOptions {
  /** In place of the machine's. */
  readonly lookup?: (name: string) => Promise<readonly { readonly address: string }[]>;
  /** Whether an address may be reached; default: those that are public. */
  readonly reachable?: (address: string) => boolean;
}

export async function openProxy(
  hosts: readonly NamedHost[],
  options: ProxyOptions = {},
): Promise<Proxy> {
  const folder = mkdtempSync(join(tmpdir(), 'holdfast-proxy-'));
  // Whoever the sandbox runs as looks into it.
  chmodSync(folder, 0o755);
  const socket = join(folder, 'socket');
  const open = new Set<Duplex>();
  const server = createServer((_request, response) => {
    response.writeHead(405, { connection: 'close' }).end('Only HTTPS passes: CONNECT host:443.\n');
  });
  server.on('connect', (request: IncomingMessage, inner: Duplex, first: Buffer) => {
    void pass({ hosts, open, ...options }, { request, inner, first });
  });
  await listening(server, socket);
  chmodSync(socket, 0o666);
  return {
    folder,
    async close() {
      for (const one of open) one.destroy();
      server.closeAllConnections();
      await new Promise<void>((resolve) => server.close(() => resolve()));
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

function listening(server: Server, socket: string): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject).listen(socket, () => resolve());
  });
}

interface Passing extends ProxyOptions {
  readonly hosts: readonly NamedHost[];
  readonly open: Set<Duplex>;
}

interface Wanted {
  readonly request: IncomingMessage;
  readonly inner: Duplex;
  readonly first: Buffer;
}

async function pass(passing: Passing, { request, inner, first }: Wanted): Promise<void> {
  inner.on('error', () => inner.destroy());
  const address = await addressOf(passing, request.url ?? '').catch(() => undefined);
  if (address === undefined || passing.open.size >= CONNECTIONS_MAX) {
    inner.end('HTTP/1.1 403 Forbidden\r\nconnection: close\r\n\r\n');
    return;
  }
  const outer: Socket = connect(address);
  for (const one of [inner, outer]) {
    passing.open.add(one);
    one.once('close', () => {
      passing.open.delete(one);
      inner.destroy();
      outer.destroy();
    });
  }
  outer.on('error', () => outer.destroy()).setTimeout(IDLE_MS, () => outer.destroy());
  outer.once('connect', () => {
    inner.write('HTTP/1.1 200 Connection established\r\n\r\n');
    if (first.length > 0) outer.write(first);
    inner.pipe(outer).pipe(inner);
  });
}

/** Where a named host is; undefined: it is not named, or not where others may be reached. */
async function addressOf(
  { hosts, lookup = lookupAll, reachable = isPublic }: Passing,
  url: string,
): Promise<{ readonly host: string; readonly port: number } | undefined> {
  const [, name = '', port = ''] = /^([^:]+):(\d{1,5})$/.exec(url) ?? [];
  const host = hosts.find((one) => one.name === name.toLowerCase() && one.port === Number(port));
  if (host === undefined) return undefined;
  const found = await lookup(host.name);
  // One that is not public makes the whole name suspect.
  if (found.length === 0 || !found.every(({ address }) => reachable(address))) return undefined;
  return { host: found[0]!.address, port: host.port };
}

function lookupAll(name: string): Promise<readonly { readonly address: string }[]> {
  return lookupName(name, { all: true });
}

/** One for each family: a list takes addresses of the other for mapped ones. */
const PRIVATE = { ipv4: new BlockList(), ipv6: new BlockList() };
for (const [net, bits] of [
  ['0.0.0.0', 8],
  ['10.0.0.0', 8],
  ['100.64.0.0', 10],
  ['127.0.0.0', 8],
  ['169.254.0.0', 16],
  ['172.16.0.0', 12],
  ['192.0.0.0', 24],
  ['192.168.0.0', 16],
  ['198.18.0.0', 15],
  ['224.0.0.0', 3],
] as const)
  PRIVATE.ipv4.addSubnet(net, bits, 'ipv4');
for (const [net, bits] of [
  ['::', 8],
  ['64:ff9b::', 96],
  ['fc00::', 7],
  ['fe80::', 10],
  ['ff00::', 8],
] as const)
  PRIVATE.ipv6.addSubnet(net, bits, 'ipv6');

/** An address that anybody can reach. */
export function isPublic(address: string): boolean {
  const family = isIP(address);
  if (family === 0) return false;
  const name = family === 4 ? 'ipv4' : 'ipv6';
  return !PRIVATE[name].check(address, name);
}
