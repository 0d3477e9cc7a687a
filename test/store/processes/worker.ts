/**
 * One process of the tests with several: opens the store named by its first argument, says 'ready',
 * and upon a line on its input does the job named by its second argument, printing JSON lines.
 */
import { once } from 'node:events';
import { openStoreAt, type Store } from '../../../store/store.js';
import { eventsFrom, warnings } from '../fixtures.js';

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

const JOBS = new Map([
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
