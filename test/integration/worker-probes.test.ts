/** `holdfast worker` as a process that is watched: probes and metrics, until it has drained. */
import { spawn, type ChildProcess } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { connect, type HoldfastClient } from '../../client/index.js';
import { freePort } from '../../devserver/index.js';
import { compiledPath } from '../compiled.js';
import { startWorld, until, type World } from './support/world.js';

const ROOT = resolve(__dirname, '..', '..');
const QUEUE = 'watched';
const children: ChildProcess[] = [];

let world: World;
let client: HoldfastClient;
let folder: string;
beforeAll(async () => {
  world = await startWorld({ worker: false });
  client = await connect({ ...world.place, taskQueue: QUEUE, store: world.store });
  folder = mkdtempSync(join(tmpdir(), 'holdfast-probes-'));
  writeFileSync(join(folder, 'holdfast.config.js'), configuration());
});
afterAll(async () => {
  for (const child of children) child.kill('SIGKILL');
  await client.close();
  await world.stop();
  rmSync(folder, { recursive: true });
});

/** An agent whose call lasts until there is a file. */
function configuration(): string {
  const authoring = JSON.stringify(compiledPath(join(ROOT, 'authoring/index.ts')));
  const [begun, go] = ['begun', 'go'].map((name) => JSON.stringify(join(folder, name)));
  return `const { defineAgent, defineConfig, defineTool } = require(${authoring});
    const { z } = require(${JSON.stringify(require.resolve('zod'))});
    const { existsSync, writeFileSync } = require('node:fs');
    const slow = defineTool({
      name: 'slow', version: '1', effect: 'read', input: z.object({}),
      run: async () => {
        writeFileSync(${begun}, '');
        while (!existsSync(${go})) await new Promise((r) => setTimeout(r, 20));
        return {};
      },
    });
    module.exports = defineConfig({
      agents: [defineAgent({ name: 'a', model: 'scripted/x', instructions: 'Serve.', tools: [slow] })],
      scripted: ({ assistantMessages }) => assistantMessages === 0
        ? { calls: [{ tool: 'slow', input: {} }] }
        : { text: 'Done.' },
    });`;
}

interface Running {
  readonly child: ChildProcess;
  said(): string;
  readonly exited: Promise<number | null>;
}

function begin(variables: Readonly<Record<string, string>>, ...words: readonly string[]): Running {
  const { address, namespace } = world.place;
  const place = ['--address', address, '--namespace', namespace, '--task-queue', QUEUE];
  const more = ['--store', world.storePlace, '--home', join(folder, 'home')];
  const main = compiledPath(join(ROOT, 'cli/main.ts'));
  const child = spawn(process.execPath, [main, 'worker', ...words, ...place, ...more], {
    cwd: folder,
    env: { PATH: process.env['PATH'], HOME: process.env['HOME'], ...variables },
  });
  children.push(child);
  let said = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => void (said += text));
  }
  const exited = new Promise<number | null>((done) => child.once('close', (code) => done(code)));
  return { child, exited, said: () => said };
}

async function get(address: string, path: string) {
  const reply = await fetch(`http://${address}${path}`).catch(() => undefined);
  return reply && { status: reply.status, text: await reply.text() };
}

test('a worker tells probes how it stands until it has drained, and Prometheus how much it does', async () => {
  const probes = `127.0.0.1:${await freePort()}`;
  const metrics = `127.0.0.1:${await freePort()}`;
  const worker = begin({ HOLDFAST_METRICS_ADDRESS: metrics }, '--probe-address', probes);
  await until('the worker to be ready', async () => {
    if (worker.child.exitCode !== null) throw new Error(worker.said());
    return (await get(probes, '/ready'))?.status === 200 ? true : undefined;
  });
  expect(JSON.parse((await get(probes, '/ready'))!.text)).toEqual({
    ok: true,
    worker: 'running',
    store: 'ok',
    temporal: 'ok',
  });
  const run = await client.start({ agent: 'a', task: 'Serve.', runId: 'slow' });
  await until('the call', () => (existsSync(join(folder, 'begun')) ? true : undefined));
  const figures = (await get(metrics, '/metrics'))!.text;
  for (const name of [
    'temporal_worker_task_slots_available',
    'temporal_worker_task_slots_used',
    'temporal_activity_schedule_to_start_latency',
    'temporal_workflow_task_schedule_to_start_latency',
  ]) {
    expect(figures).toMatch(new RegExp(`^${name}[_{]`, 'm'));
  }
  const second = begin({}, '--metrics-address', metrics);
  expect(await second.exited).toBe(1);
  expect(second.said()).toMatch(/Port \d+ is taken\.[^]*Choose another one: --metrics-address/);
  worker.child.kill('SIGTERM');
  await until('the worker to drain', async () =>
    (await get(probes, '/ready'))?.status === 503 ? true : undefined,
  );
  expect((await get(probes, '/ready'))!.text).toContain('"worker":"draining"');
  expect((await get(probes, '/health'))!.status).toBe(200);
  writeFileSync(join(folder, 'go'), '');
  expect(await worker.exited).toBe(0);
  expect(await get(probes, '/health')).toBeUndefined();
  await world.raw.workflow.getHandle(run.runId).terminate();
}, 300_000);
