/** Which calls of a run its conversation has forgotten (G109). */
import { callDigest } from '../../core/json/json.js';
import type { EventBody } from '../../core/state/event.js';
import type { Store } from '../../store/store.js';
import { cleanUp, eventsFrom, newStore, SESSION_INIT } from './fixtures.js';

const CALL = { tool: 'send', toolVersion: '1', args: { text: 'a\0b' } };
const RUN = { tenant: 't', runId: 'r1' };
const argsDigest = callDigest(CALL);

let store: Store;
beforeEach(async () => {
  store = (await newStore()).store;
});
afterAll(cleanUp);

function started(key: string, args: { readonly text: string } = CALL.args): EventBody {
  return { type: 'tool_started', callId: key, tool: 'send', key, args };
}

async function told(execution: string, seq: number, ...bodies: readonly EventBody[]) {
  await store.appendEvents({ ...RUN, execution }, eventsFrom(seq, bodies));
}

async function claimed(key: string) {
  const target = { tenant: 't', key, argsDigest, attempt: 1 };
  const subject = { runId: 'r1', callKey: key, tool: 'send' };
  const { claimed: done } = await store.claim({
    ...target,
    ...subject,
    claimedUntil: 5,
    sameKeyRetry: false,
  });
  expect(done).toBe(true);
  return target;
}

async function forgotten(
  execution: string,
  limit = 6,
): Promise<readonly (readonly [string, string])[]> {
  const wanted = { tool: 'send', toolVersion: '1', argsDigest, key: 'own', limit };
  const calls = await store.callsBeforeReset({ ...RUN, execution, ...wanted });
  return calls.map(({ key, state }) => [key, state] as const);
}

test('none, in a run that has never been reset', async () => {
  await claimed('k1');
  expect(await forgotten('one')).toEqual([]);
  await told('one', 0, SESSION_INIT, started('k1'));
  expect(await forgotten('one')).toEqual([]);
});

test('those whose start is no longer in the line, as they stand in the ledger', async () => {
  await told('one', 0, SESSION_INIT, started('kept'), started('under way'), started('100%_done!'));
  for (const key of ['kept', 'under way']) await claimed(key);
  const target = await claimed('100%_done!');
  await store.record({ ...target, result: { text: 'sent' }, source: 'tool' });
  expect(await forgotten('one')).toEqual([]);
  await told('two', 2, started('under way', { text: 'other' }));
  expect(await forgotten('two')).toEqual([
    ['100%_done!', 'done'],
    ['under way', 'under_way'],
  ]);
  expect(await forgotten('two', 1)).toHaveLength(1);
});

test('those that were taken away in doubt, not those of which the tool said no', async () => {
  await told('one', 0, SESSION_INIT, started('doubt'), started('no'));
  const doubt = await claimed('doubt');
  await store.burn({ ...doubt, runId: 'r1', callKey: 'doubt', tool: 'send' });
  await store.voidClaim(await claimed('no'));
  await told('two', 1, started('else', { text: 'other' }));
  expect(await forgotten('two')).toEqual([['doubt', 'in_doubt']]);
});

test('all, for an execution that has told nothing yet', async () => {
  await told('one', 0, SESSION_INIT, started('k1'));
  await claimed('k1');
  expect(await forgotten('two')).toEqual([['k1', 'under_way']]);
  expect(await forgotten('one')).toEqual([]);
});
