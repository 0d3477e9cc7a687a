/** Code of a configuration that runs in a case whose time is virtual. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';
import { parseFixture } from '../../evaluation/read-fixture.js';
import { RealTime } from '../../evaluation/real-time.js';
import { inOwnTime, type OwnTime } from '../../evaluation/scripted/own-time.js';
import type { Stage } from '../../evaluation/scripted/stage.js';
import { createSimulationEngine } from '../../evaluation/simulation/index.js';
import { defineAgent, defineConfig, defineTool, type AgentDefinition } from '../../index.js';

function ownTime() {
  const waited: number[] = [];
  const wait = async (ms: number): Promise<void> => void waited.push(ms);
  const stage = { worker: () => ({ wait }) } as unknown as Stage;
  return { own: { time: new RealTime(), stage } satisfies OwnTime, waited };
}

const never = new AbortController().signal;

test('the time of the case stands still while the work goes on, then goes on by as much', async () => {
  const { own, waited } = ownTime();
  const done = inOwnTime(own, { limitMs: 60_000, signal: never }, async () => {
    await sleep(30);
    return 'done';
  });
  expect(own.time.current()).toBeDefined();
  expect(await done).toBe('done');
  expect(own.time.current()).toBeUndefined();
  expect(waited[0]).toBeGreaterThanOrEqual(29);
});

test('work that never ends holds the case for no longer than its own limit', async () => {
  const { own, waited } = ownTime();
  void inOwnTime(own, { limitMs: 20, signal: never }, () => new Promise(() => undefined));
  while (own.time.current() !== undefined) await own.time.current();
  expect(waited[0]).toBeGreaterThanOrEqual(19);
});

test('work that fails fails', async () => {
  const { own } = ownTime();
  const failed = inOwnTime(own, { limitMs: 1_000, signal: never }, () =>
    Promise.reject(new Error('broken')),
  );
  await expect(failed).rejects.toThrow('broken');
});

describe('a case of an agent of a configuration waits in earnest', () => {
  async function played(more: Partial<AgentDefinition>, model: readonly object[]) {
    const document = {
      case_id: 'own',
      agent: 'shop',
      tools: 'live',
      model,
      expected: { stop_reason: 'completed' },
    };
    const fixture = parseFixture(JSON.stringify(document), 'own.json');
    const shop = defineAgent({
      name: 'shop',
      model: 'anthropic/claude-sonnet-5-5',
      instructions: 'Sell.',
      ...more,
    });
    const ownAgent = { ...fixture.ownAgent!, config: defineConfig({ agents: [shop] }) };
    const engine = createSimulationEngine();
    const run = await engine.run({ ...fixture, ownAgent }, { seed: 1 });
    await engine.stop();
    if (run.kind !== 'observed') throw new Error(JSON.stringify(run));
    return run.observed;
  }

  test('for its gate of tasks', async () => {
    const refuseTask = () => sleep(20).then(() => 'Not on Sundays.');
    const { result } = await played({ refuseTask }, [{ text: 'Done.' }]);
    expect(result).toMatchObject({ stopReason: 'refused', nextSafeAction: 'Not on Sundays.' });
  });

  test('for the probe of a live tool', async () => {
    const pay = defineTool({
      name: 'pay',
      version: '1',
      effect: 'write',
      idempotency: 'keyed',
      approval: 'never',
      input: z.object({}),
      run: () => Promise.reject(new Error('The line broke.')),
      probe: () => sleep(20).then(() => ({ paid: true })),
    });
    const { events } = await played({ tools: [pay] }, [
      { calls: [{ id: 'p', tool: 'pay', input: {} }] },
      { text: 'Paid.' },
    ]);
    expect(events.find(({ type }) => type === 'tool_finished')).toMatchObject({ status: 'ok' });
  });

  test('for the folder that it begins with', async () => {
    const seed = mkdtempSync(join(tmpdir(), 'holdfast-seed-'));
    for (let n = 0; n < 20; n += 1) writeFileSync(join(seed, `${n}.txt`), `${n}`);
    const { result } = await played({ sandbox: { seed } }, [{ text: 'Done.' }]).finally(() =>
      rmSync(seed, { recursive: true }),
    );
    expect(result?.counters).toMatchObject({ waitingMs: 0 });
  });
});
