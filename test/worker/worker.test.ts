import { existsSync, mkdtempSync, rmSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { defineAgent, defineConfig } from '../../authoring/index.js';
import { startWorker, type WorkerSettings } from '../../worker/worker.js';
import { workflowBundle } from '../../worker/workflow-code.js';

describe('startWorker', () => {
  let folder: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'holdfast-worker-'));
  });
  afterEach(() => rmSync(folder, { recursive: true, force: true }));

  const settings = (model = 'scripted/x'): WorkerSettings => ({
    // Nothing listens on the discard port.
    address: '127.0.0.1:9',
    namespace: 'default',
    taskQueue: 'test',
    storePlace: join(folder, 'store.db'),
    config: defineConfig({
      agents: [defineAgent({ name: 'a', model, instructions: 'Help.' })],
    }),
    providers: new Map(),
    connectAttemptsMax: 1,
    logLevel: 'ERROR',
  });

  test('without a server it says which address and what to do', async () => {
    await expect(startWorker(settings())).rejects.toMatchObject({
      code: 'ServerUnavailable',
      message: expect.stringContaining('127.0.0.1:9'),
      hint: expect.stringContaining('HOLDFAST_ADDRESS'),
    });
  });

  test('a rule that matches no tool is told when it begins, once for a configuration', async () => {
    const rules = [{ tool: 'refnd', decision: 'deny' }] as const;
    const agent = { name: 'a', model: 'scripted/x', instructions: 'Help.', policy: { rules } };
    const config = defineConfig({ agents: [defineAgent(agent)] });
    const said: string[] = [];
    const begin = () => startWorker({ ...settings(), config, say: (line) => said.push(line) });
    await expect(begin()).rejects.toMatchObject({ code: 'ServerUnavailable' });
    await expect(begin()).rejects.toMatchObject({ code: 'ServerUnavailable' });
    expect(said.filter((line) => line.includes('policy.rules[0] is "refnd"'))).toHaveLength(1);
  });

  test('an address of metrics that is none is refused by the name of its option', async () => {
    const refused = startWorker({ ...settings(), metricsAddress: 'localhost:9464' });
    await expect(refused).rejects.toMatchObject({
      code: 'InvalidConfig',
      message: expect.stringContaining('metricsAddress'),
    });
  });

  test('metrics that the runtime of this process lacks are told, not left out', async () => {
    await expect(startWorker(settings())).rejects.toMatchObject({ code: 'ServerUnavailable' });
    const refused = startWorker({ ...settings(), metricsAddress: '127.0.0.1:9464' });
    await expect(refused).rejects.toMatchObject({
      code: 'InvalidConfig',
      message: expect.stringContaining('no metrics at 127.0.0.1:9464'),
    });
  });

  test('an unknown model is found before anything is opened', async () => {
    await expect(startWorker(settings('x/y'))).rejects.toMatchObject({ code: 'UnknownModel' });
    expect(existsSync(join(folder, 'store.db'))).toBe(false);
  });
});

describe('workflowBundle', () => {
  test('gives the workflows of exactly these sources, once per process', async () => {
    const [first, second] = await Promise.all([workflowBundle(), workflowBundle()]);
    expect(second).toBe(first);
    const code = 'codePath' in first ? readFileSync(first.codePath, 'utf8') : first.code;
    expect(code).toContain('agentRun');
  });
});
