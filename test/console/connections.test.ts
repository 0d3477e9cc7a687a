import http, { createServer } from 'node:http';
import { connect, type AddressInfo, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseConsole } from '../../authoring/index.js';
import type { HoldfastClient } from '../../client/index.js';
import { startConsole, type RunningConsole } from '../../console/console.js';
import { limitConnections } from '../../console/http/connections.js';
import { addressGroup, remoteAddress, trustedProxies } from '../../console/http/remote-address.js';
import type { DeskStore } from '../../console/desk-store.js';
import { until } from '../until.js';

const [STRANGER, SOMEBODY] = ['127.0.0.2', '127.0.0.3'];

/** Idle connections, each without a byte said over it. */
async function idle(port: number, count: number, localAddress = STRANGER): Promise<Socket[]> {
  const sockets: Socket[] = [];
  for (let made = 0; made < count; made += 1) {
    const socket = connect({ host: '127.0.0.1', port, localAddress });
    socket.on('error', () => undefined);
    // What the desk says before it hangs up is read, else nobody learns of it.
    socket.resume();
    sockets.push(socket);
    await new Promise<void>((resolve) => {
      socket.once('connect', () => resolve());
      socket.once('close', () => resolve());
    });
  }
  return sockets;
}

function status(port: number, localAddress: string, path = '/health'): Promise<number> {
  return new Promise((resolve, reject) => {
    const options = { host: '127.0.0.1', port, path, localAddress, agent: false, timeout: 2_000 };
    const request = http.get(options, (response) => {
      response.resume();
      response.on('end', () => resolve(response.statusCode ?? 0));
    });
    request.on('timeout', () => request.destroy(new Error('no answer')));
    request.on('error', reject);
  });
}

describe('the desk under idle connections of a stranger', () => {
  let running: RunningConsole;
  let port: number;
  const sockets: Socket[] = [];

  beforeAll(async () => {
    const store = {
      lettersDue: () => Promise.resolve([]),
      claimNotices: () => Promise.resolve([]),
    } as unknown as DeskStore;
    running = await startConsole({
      client: {} as HoldfastClient,
      store,
      settings: parseConsole({ port: 0 }),
      version: '0',
      localRoles: [],
      say: () => undefined,
    });
    port = Number(new URL(running.url).port);
  });
  afterAll(async () => {
    for (const socket of sockets) socket.destroy();
    await running.stop();
  });

  test('serves everybody else at once, and the stranger too', async () => {
    sockets.push(...(await idle(port, 1_100)));
    for (const address of [SOMEBODY, STRANGER]) {
      expect(await status(port, address)).toBe(200);
    }
    const open = sockets.filter((socket) => !socket.closed).length;
    expect(open).toBeLessThanOrEqual(100);
  });

  test('ends what says nothing within seconds', async () => {
    await until(() => sockets.every((socket) => socket.closed));
  });
});

describe('connections that are at work', () => {
  test('are never ended for new ones, which are refused then', async () => {
    const release: (() => void)[] = [];
    const server = createServer((request, response) => {
      if (request.url === '/health') return void response.end('ok');
      release.push(() => void response.end('done'));
    });
    const limits = { connections: 4, connectionsPerAddress: 2 };
    limitConnections(server, limits, trustedProxies([SOMEBODY]));
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as AddressInfo;
    const working = [status(port, STRANGER, '/work'), status(port, STRANGER, '/work')];
    while (release.length < 2) await sleep(5);
    await expect(status(port, STRANGER)).rejects.toThrow();
    // A trusted proxy has no limit of its own.
    const proxied = [status(port, SOMEBODY, '/work'), status(port, SOMEBODY, '/work')];
    while (release.length < 4) await sleep(5);
    await expect(status(port, SOMEBODY)).rejects.toThrow();
    for (const end of release) end();
    expect(await Promise.all([...working, ...proxied])).toEqual([200, 200, 200, 200]);
    expect(await status(port, STRANGER)).toBe(200);
    server.close();
  });
});

describe('the address of a request', () => {
  const proxies = trustedProxies(['10.0.0.0/8', '192.0.2.1', '2001:db8::/32']);

  test.each([
    ['198.51.100.7', '1.2.3.4', '198.51.100.7'],
    ['10.1.2.3', '198.51.100.7', '198.51.100.7'],
    ['::ffff:10.1.2.3', '6.6.6.6, 198.51.100.7', '198.51.100.7'],
    ['10.1.2.3', '6.6.6.6, 198.51.100.7, 192.0.2.1', '198.51.100.7'],
    ['10.1.2.3', 'not an address', '10.1.2.3'],
    ['10.1.2.3', undefined, '10.1.2.3'],
    ['2001:db8::5', '2001:db9::1', '2001:db9::1'],
  ])('of %s, which says %s, is %s', (peer, said, expected) => {
    expect(remoteAddress(peer, said, proxies)).toBe(expected);
  });

  test.each([
    ['127.0.0.1', '127.0.0.1'],
    ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
    ['2001:db8:1:2::9', '2001:db8:1:2::/64'],
    ['::1', '0:0:0:0::/64'],
  ])('%s counts as %s', (address, group) => {
    expect(addressGroup(address)).toBe(group);
  });

  test.each(['10.0.0.0/33', 'proxy.example', '10.0.0.0/8/8', '2001:db8::/129'])(
    '%s is no proxy',
    (one) => {
      expect(() => parseConsole({ trustedProxies: [one] })).toThrow(/trustedProxies/);
    },
  );
});
