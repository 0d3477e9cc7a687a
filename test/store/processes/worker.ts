/**
 * One process of the tests with several: opens the store named by its first argument, says 'ready',
 * and upon a line on its input does the job named by its second argument, printing JSON lines.
 */
import { once } from 'node:events';
import { z } from 'zod';
import { claimCall } from '../../../activities/tool/claim-call.js';
import { controlledBy } from '../../../activities/tool/controls.js';
import type { Execution } from '../../../activities/tool/execute-read.js';
import { startMeter } from '../../../activities/tool/tool-cost.js';
import { defineAgent, defineConfig, defineTool } from '../../../authoring/index.js';
import { callDigest } from '../../../core/json/json.js';
import { openStoreAt, type Store } from '../../../store/store.js';
import { eventsFrom, warnings } from '../fixtures.js';

const SHARED_EVENTS = 40;

async function claimOne(store: Store, id: string): Promise<void> {
  for (let round = 0; round < 50; round += 1) {
    const { claimed } = await store.claim({
      tenant: 't',
      key: `k${round}`,
      argsDigest: 'd',
      attempt: 1,
      runId: `run-${id}`,
      callKey: '1',
      tool: 'pay',
      claimedUntil: 1,
      sameKeyRetry: false,
    });
    if (claimed) console.log(JSON.stringify({ won: `k${round}`, by: id }));
  }
}

/** Appends until it is killed, telling after each append what has been acknowledged. */
async function appendForever(store: Store, id: string): Promise<void> {
  const source = { tenant: 't', runId: `run-${id}`, execution: 'e' };
  for (let seq = 0; seq < 1_000_000; seq += 5) {
    const acknowledged = await store.appendEvents(source, eventsFrom(seq, warnings(5)));
    console.log(JSON.stringify({ acknowledged }));
    await new Promise((resolve) => setImmediate(resolve));
  }
}

async function appendSome(store: Store, id: string): Promise<void> {
  const source = { tenant: 't', runId: `run-${id}`, execution: 'e' };
  for (let seq = 0; seq < 100; seq += 1)
    await store.appendEvents(source, eventsFrom(seq, warnings(1)));
}

/** Appends to a run that all others append to as well, each as an execution of its own. */
async function appendToOne(store: Store, id: string): Promise<void> {
  const source = { tenant: 't', runId: 'shared', execution: `e${id}` };
  for (let seq = 0; seq < SHARED_EVENTS; seq += 1)
    await store.appendEvents(source, eventsFrom(seq, warnings(1, `of ${id}`)));
}

/** What a redelivery does: the same events of the same execution, at the same time as another worker. */
async function appendSame(store: Store): Promise<void> {
  const source = { tenant: 't', runId: 'shared', execution: 'e' };
  for (let seq = 0; seq < SHARED_EVENTS; seq += 1) {
    const acknowledged = await store.appendEvents(source, eventsFrom(seq, warnings(1)));
    console.log(JSON.stringify({ acknowledged }));
  }
}

/** Several attempts of one effect, each within a transaction that has looked at those before. */
async function startAttempts(store: Store): Promise<void> {
  const site = { tenant: 't', runId: 'shared', effectId: 'e1' };
  const bounds = { boundCostMicroUsd: 0, boundInputTokens: 0, boundOutputTokens: 0 };
  for (let round = 0; round < 20; round += 1) {
    const won = await store.together(async (calls) => {
      await calls.appendEvents({ ...site, execution: 'e' }, []);
      const before = await calls.listAttempts('t', 'shared', 'e1');
      const number = await calls.startAttempt({ ...site, ...bounds, kind: 'model', startedAt: 1 });
      return { number, seen: before.length };
    });
    console.log(JSON.stringify(won));
  }
}

async function growChain(store: Store): Promise<void> {
  let parent: string | null = null;
  for (let depth = 0; depth < 30; depth += 1) {
    const node = { v: 1, parent, role: 'user', messageId: `m${depth}`, blocks: [] } as const;
    parent = await store.putNode('t', node);
  }
  console.log(
    JSON.stringify({ head: parent, nodes: (await store.readChain('t', parent!)).length }),
  );
}

const CONTROLLED = defineTool({
  name: 'pay',
  version: '1',
  effect: 'financial',
  idempotency: 'keyed',
  input: z.object({ order: z.string(), cents: z.number() }),
  limits: { amount: ({ cents }) => cents, inAll: { amount: 4_000 }, perDay: { count: 1_000 } },
  identity: ({ order }) => [order],
  run: () => 'paid',
});

const AGENT = { name: 'a', model: 'scripted/test', instructions: 'Pay.', tools: [CONTROLLED] };
const CONFIG = defineConfig({ agents: [defineAgent(AGENT)] });

interface ControlledClaim {
  readonly order: string;
  readonly id: string;
  readonly cents?: number;
}

/** Claims as execute_tool does; its transaction alone decides. */
async function claimControlled(store: Store, claiming: ControlledClaim): Promise<string> {
  const { order, id, cents = 100 } = claiming;
  const args = { order, cents };
  const digest = callDigest({ tool: 'pay', toolVersion: '1', args });
  const key = `${id}-${order}`;
  const execution: Execution = {
    input: {
      v: 1,
      run: { tenant: 't', runId: `run-${id}`, traceId: 'trace' },
      call: {
        callId: 'c',
        callKey: '1',
        key,
        tool: 'pay',
        toolVersion: '1',
        args,
        digest,
        attempt: 1,
      },
      grant: { basis: 'ask', reference: 'a', digest, policyVersion: '0', approvedBy: ['ada'] },
      timeoutMs: 1_000,
      inlineBytesMax: 1_000,
      maxRetries: 0,
      events: [],
    },
    runnable: { tool: CONTROLLED, input: args },
    meter: startMeter({}),
  };
  const asked = controlledBy(execution);
  if (!asked.ok) throw new Error('no controls');
  const { controlled } = asked;
  const claim = await store.together((calls) =>
    claimCall(
      { store: calls, config: CONFIG, providers: new Map(), clock: () => 1_000_000 },
      {
        effectId: 'execute_tool-1',
        execution: 'e',
        work: { earlier: { workedMs: 0, refused: 0, tries: 0 } },
      },
      { ...execution, controlled },
    ),
  );
  if (claim.claimed) return 'claimed';
  return claim.outcome.kind === 'error' ? claim.outcome.code : claim.outcome.kind;
}

/** Other orders in every process: only the limit stops them. */
async function claimToTheLimit(store: Store, id: string): Promise<void> {
  for (let round = 0; round < 25; round += 1) {
    const outcome = await claimControlled(store, { order: `O-${id}-${round}`, id });
    console.log(JSON.stringify({ outcome }));
  }
}

/** The same orders in every process: each is paid once. */
async function claimTheSame(store: Store, id: string): Promise<void> {
  for (let round = 0; round < 10; round += 1) {
    const outcome = await claimControlled(store, { order: `O-${round}`, id });
    console.log(JSON.stringify({ outcome, order: round }));
  }
}

/** Goes on until a freeze stops it. */
async function claimUntilFrozen(store: Store, id: string): Promise<void> {
  for (let round = 0; round < 5_000; round += 1) {
    const outcome = await claimControlled(store, { order: `O-${id}-${round}`, id, cents: 0 });
    if (outcome === 'frozen' || round % 10 === 0) console.log(JSON.stringify({ outcome }));
    if (outcome === 'frozen') return;
    await new Promise((resolve) => setImmediate(resolve));
  }
}

const JOBS = new Map<string, (store: Store, id: string) => Promise<void>>([
  ['append-to-one', appendToOne],
  ['append-same', appendSame],
  ['attempts', startAttempts],
  ['chain', growChain],
  ['claim', claimOne],
  ['claim-to-limit', claimToTheLimit],
  ['claim-same', claimTheSame],
  ['claim-until-frozen', claimUntilFrozen],
  ['append', appendForever],
  ['append-some', appendSome],
]);

async function main([place = '', job = '', id = '']: readonly string[]): Promise<void> {
  const opensAtOnce = job === 'open';
  if (opensAtOnce) await go();
  const store = await openStoreAt(place);
  if (!opensAtOnce) await go();
  await JOBS.get(job)?.(store, id);
  console.log(JSON.stringify(await store.health()));
  await store.close();
}

async function go(): Promise<void> {
  console.log('"ready"');
  await once(process.stdin, 'data');
  process.stdin.destroy();
}

void main(process.argv.slice(2));
