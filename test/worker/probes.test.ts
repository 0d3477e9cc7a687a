/** Probes of a process of workers. */
import { freePort } from '../../devserver/index.js';
import { startProbes, type Probes } from '../../worker/probes.js';
import type { WorkerReadiness } from '../../connection/readiness.js';

const GOOD: WorkerReadiness = { ok: true, worker: 'running', store: 'ok', temporal: 'ok' };
const BAD: WorkerReadiness = { ...GOOD, ok: false, worker: 'draining' };

let probes: Probes | undefined;
afterEach(() => probes?.close());

async function begun() {
  const address = `127.0.0.1:${await freePort()}`;
  probes = await startProbes(address);
  return async (path: string, method = 'GET') => {
    const reply = await fetch(`http://${address}${path}`, { method });
    return [reply.status, await reply.json()];
  };
}

test('the process is healthy from the start, and ready once its workers are', async () => {
  const get = await begun();
  expect(await get('/health')).toEqual([200, { ok: true }]);
  expect(await get('/ready')).toEqual([503, { ok: false, worker: 'starting' }]);
  probes!.watch({ ready: async () => GOOD });
  expect(await get('/ready')).toEqual([200, GOOD]);
});

test('one worker that is not ready makes the process not ready, and says why', async () => {
  const get = await begun();
  probes!.watch({ ready: async () => GOOD });
  probes!.watch({ ready: async () => BAD });
  expect(await get('/ready')).toEqual([503, BAD]);
});

test.each([
  ['/', 'GET'],
  ['/ready/..', 'GET'],
  ['/__proto__', 'GET'],
  ['/constructor', 'GET'],
  ['/ready', 'POST'],
])('nothing else is there: %s %s', async (path, method) => {
  const get = await begun();
  expect((await get(path, method))[0]).toBe(404);
});

test('a taken port, and an address of another machine, are told in the words of the desk', async () => {
  const address = `127.0.0.1:${await freePort()}`;
  probes = await startProbes(address);
  const hint = 'Choose another one: --probe-address or HOLDFAST_PROBE_ADDRESS.';
  await expect(startProbes(address)).rejects.toMatchObject({
    code: 'PortTaken',
    message: `Port ${address.split(':')[1]} is taken.`,
    hint,
  });
  await expect(startProbes('192.0.2.1:8081')).rejects.toMatchObject({
    code: 'InvalidConfig',
    message: 'The worker cannot listen on 192.0.2.1:8081.',
    hint,
  });
});
