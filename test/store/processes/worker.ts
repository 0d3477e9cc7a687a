/**
 * One process of the tests with several: opens the store named by its first argument, says 'ready',
 * and upon a line on its input does the job named by its second argument, printing JSON lines.
 */
import { once } from 'node:events';
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

const JOBS = new Map<string, (store: Store, id: string) => Promise<void>>([
  ['append-to-one', appendToOne],
  ['append-same', appendSame],
  ['attempts', startAttempts],
  ['chain', growChain],
  ['claim', claimOne],
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
