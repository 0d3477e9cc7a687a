/** The way out for commands that may reach named hosts. */
import { createServer, type Server } from 'node:http';
import { connect } from 'node:net';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { isPublic, openProxy, parseHosts, type ProxyOptions } from '../../sandbox/proxy.js';
import { sh } from './folders.js';
import { whereIsolated } from './where-isolated.js';

let server: Server;
let port: number;

beforeAll(async () => {
  server = createServer((_, response) => void response.end('inside the host'));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  port = (server.address() as { port: number }).port;
});
afterAll(() => void server.close());

const HERE: ProxyOptions = {
  lookup: () => Promise.resolve([{ address: '127.0.0.1' }]),
  reachable: () => true,
};

/** The first line of the answer to a request on the proxy's socket. */
async function answer(request: string, options: ProxyOptions = HERE): Promise<string> {
  const proxy = await openProxy([{ name: 'host.example', port }], options);
  try {
    return await new Promise<string>((resolve, reject) => {
      const socket = connect(join(proxy.folder, 'socket'));
      socket.once('error', reject).once('data', (data) => {
        resolve(data.toString().split('\r\n')[0]!);
        socket.destroy();
      });
      socket.write(request.replaceAll('PORT', String(port)));
    });
  } finally {
    await proxy.close();
    expect(existsSync(proxy.folder)).toBe(false);
  }
}

const OK = 'HTTP/1.1 200 Connection established';
const NO = 'HTTP/1.1 403 Forbidden';
const ONLY_HTTPS = 'HTTP/1.1 405 Method Not Allowed';

test.each([
  ['CONNECT host.example:PORT HTTP/1.1\r\nhost: x\r\n\r\n', OK],
  ['CONNECT HOST.Example:PORT HTTP/1.1\r\nhost: x\r\n\r\n', OK],
  ['CONNECT host.example:22 HTTP/1.1\r\nhost: x\r\n\r\n', NO],
  ['CONNECT other.example:PORT HTTP/1.1\r\nhost: x\r\n\r\n', NO],
  ['CONNECT host.example.evil.example:PORT HTTP/1.1\r\nhost: x\r\n\r\n', NO],
  ['CONNECT 127.0.0.1:PORT HTTP/1.1\r\nhost: host.example\r\n\r\n', NO],
  ['GET http://host.example:PORT/ HTTP/1.1\r\nhost: host.example\r\n\r\n', ONLY_HTTPS],
])('%j is answered %s', async (request, answered) => {
  expect(await answer(request)).toBe(answered);
});

test.each([
  '127.0.0.1',
  '10.1.2.3',
  '169.254.169.254',
  '192.168.0.1',
  '::1',
  'fd00::1',
  '::ffff:10.0.0.1',
])('a named host that is at %s is not reached', async (address) => {
  const lookup = () => Promise.resolve([{ address: '198.51.100.7' }, { address }]);
  expect(isPublic(address)).toBe(false);
  const request = 'CONNECT host.example:PORT HTTP/1.1\r\nhost: x\r\n\r\n';
  expect(await answer(request, { lookup })).toBe(NO);
});

test('an address that anybody can reach is public', () => {
  expect(['198.51.100.7', '8.8.8.8', '2606:4700::1111'].map(isPublic)).toEqual([true, true, true]);
});

test.each([
  '*',
  '*.example.org',
  'localhost',
  '10.0.0.1',
  '[::1]',
  'example.org:0',
  'example.org/x',
  'http://example.org',
  '',
])('a sandbox cannot be held to %j, which is refused where it is named', (host) =>
  expect(() => parseHosts([host])).toThrow(/cannot be held to it/),
);

test('hosts are named one by one, with a port where it is not 443', () => {
  expect(parseHosts(['registry.npmjs.org', 'Example.org:8443'])).toEqual([
    { name: 'registry.npmjs.org', port: 443 },
    { name: 'example.org', port: 8443 },
  ]);
});

whereIsolated('a command with named hosts', (isolation) => {
  const fetching = (url: string): string =>
    `/node -e "const s=require('net').connect(3128,'127.0.0.1',()=>s.write('CONNECT ${url} HTTP/1.1\\r\\nhost: x\\r\\n\\r\\n'));let n=0;s.on('data',d=>{console.log(String(d));if(n++===0&&/ 200 /.test(d))s.write('GET / HTTP/1.0\\r\\n\\r\\n')});s.on('close',()=>process.exit())"`;
  const command = () => ({ hosts: [{ name: 'host.example', port }], proxy: HERE });

  test('reaches them through the proxy, and nothing else', async () => {
    const there = await sh(
      isolation,
      `echo $HTTPS_PROXY; ${fetching(`host.example:${port}`)}`,
      command(),
    );
    expect(there.end.stdout.text).toMatch(/^http:\/\/127\.0\.0\.1:3128\n[^]*inside the host/);
    const elsewhere = await sh(isolation, fetching(`other.example:${port}`), command());
    expect(elsewhere.end.stdout.text).toContain('403 Forbidden');
    const around = `/node -e "require('net').connect(${port},'127.0.0.1').on('error',e=>console.log(e.code))"`;
    expect((await sh(isolation, around, command())).end.stdout.text).toBe('ECONNREFUSED\n');
  });

  test('has no way out without them', async () => {
    const ran = await sh(
      isolation,
      `echo "[$HTTPS_PROXY]"; ls /proxy; ${fetching('host.example:443')} 2>&1 | grep -o ECONNREFUSED | head -1`,
    );
    expect(ran.end.stdout.text).toBe('[]\nECONNREFUSED\n');
  });
});
