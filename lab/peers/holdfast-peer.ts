/** Holdfast as a peer: a worker and a client in one process, with the settings that nobody has changed. */
import { setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';
import { connect } from '../../client/index.js';
import { defineAgent, defineConfig, defineTool, type Config } from '../../index.js';
import { openStoreAt } from '../../store/store.js';
import { createAnthropicProvider } from '../../testing/index.js';
import { startWorker } from '../../worker/index.js';
import { keepQuiet } from '../../replay/keep-quiet.js';
import { servePeer, settingsOfPeer, tell, type PeerSettings } from './protocol.js';
import { INSTRUCTIONS, MODEL, orderText, PAY, pay, READ, taskOf } from './task.js';

const AGENT = 'clerk';
const ROLE = 'manager';
const LOOK_MS = 50;

function configOf({ serviceUrl, keyed }: PeerSettings): Config {
  const read = defineTool({
    name: READ,
    version: '1',
    description: 'Reads one order.',
    effect: 'read',
    quick: true,
    input: z.object({ orderId: z.string() }),
    run: ({ orderId }) => orderText(orderId),
  });
  const refund = defineTool({
    name: PAY,
    version: '1',
    description: 'Pays the refund.',
    effect: 'financial',
    idempotency: keyed ? 'keyed' : 'none',
    ...(keyed && { onLost: 'repeat_with_key' }),
    approval: { roles: [ROLE] },
    input: z.object({ amountCents: z.number() }),
    run: ({ amountCents }, { runId, idempotencyKey }) =>
      pay({ serviceUrl, run: runId, amountCents, ...(keyed && { key: idempotencyKey }) }),
  });
  return defineConfig({
    agents: [
      defineAgent({
        name: AGENT,
        model: 'bench/peer',
        instructions: INSTRUCTIONS,
        tools: [read, refund],
        budget: { maxTurns: 1_000, maxToolCalls: 1_000, maxCostMicroUsd: 1_000_000_000 },
      }),
    ],
    routes: [
      {
        name: 'bench/peer',
        provider: 'anthropic',
        model: MODEL,
        maxOutputTokens: 8_000,
        contextWindow: 200_000,
        prices: { input: 1_000_000, output: 5_000_000, cacheRead: 100_000, cacheWrite: 1_250_000 },
        pricesVersion: 'bench',
        temperatureAllowed: true,
      },
    ],
  });
}

async function main(): Promise<void> {
  keepQuiet();
  const settings = settingsOfPeer();
  const storePlace = settings.storePlace!;
  const place = { address: settings.address!, namespace: 'default', taskQueue: 'peer-holdfast' };
  const provider = createAnthropicProvider({ apiKey: 'bench', baseUrl: settings.modelUrl });
  const worker = await startWorker({
    ...place,
    storePlace,
    config: configOf(settings),
    providers: new Map([[provider.name, provider]]),
  });
  void worker.run();
  const store = await openStoreAt(storePlace);
  const client = await connect({ ...place, store });
  /** Of a run that asks somebody: it says so once for each question. */
  const watch = async (runId: string, asks: boolean): Promise<void> => {
    const run = client.handle(runId);
    const over = new AbortController();
    const ended = run.result().finally(() => over.abort());
    const seen = new Set<string>();
    while (asks && !over.signal.aborted) {
      // Right after a restart no worker has it yet.
      const { asks: open } = await run.state().catch(() => ({ asks: [] }));
      for (const { askId, kind } of open) {
        if (seen.has(askId)) continue;
        seen.add(askId);
        tell({ is: 'waiting', run: runId, for: kind === 'approval' ? 'approval' : 'outcome' });
      }
      await sleep(LOOK_MS, undefined, { signal: over.signal }).catch(() => undefined);
    }
    const { completed, stopReason } = await ended;
    if (!completed) throw new Error(`${runId} ended with ${stopReason}`);
    tell({ is: 'ended', run: runId });
  };
  servePeer({
    async start(runId, goal) {
      await client.start({ agent: AGENT, task: { goal }, runId, wait: false });
      await watch(runId, taskOf(goal)?.pays ?? false);
    },
    async approve(runId) {
      const run = client.handle(runId);
      const [ask] = (await run.state()).asks;
      await run.approve(ask!.askId, { by: 'maria', roles: [ROLE] });
    },
    again: (runId) => watch(runId, true),
  });
}

void main();
