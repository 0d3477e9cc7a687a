/** What the desk reads of freezes, limits and effects, as it was written. */
import type { Freeze } from '../../pure/freeze.js';
import type { EffectInput, Spender } from '../../store/effects.js';
import { FREEZES_MAX } from '../../store/freezes.js';
import type { Store } from '../../store/store.js';
import { cleanUp, eventsFrom, HOSTILE_NAMES, newStore, SESSION_INIT } from './fixtures.js';

const DAY = 86_400_000;
const BIG = Number.MAX_SAFE_INTEGER;

let store: Store;
beforeEach(async () => {
  store = (await newStore()).store;
});
afterAll(cleanUp);

describe('freezes', () => {
  const freeze = (id: string, more: Partial<Freeze> = {}): Freeze => ({
    id,
    scope: { kind: 'tenant' },
    by: 'mia',
    reason: 'fraud wave',
    at: 10,
    ...more,
  });

  test('come back as they were set, those of one moment in the order of their ids', async () => {
    const set = [
      freeze('frz_B', { scope: { kind: 'tool', pattern: 'pay.*' } }),
      freeze('frz_a', { scope: { kind: 'agent', agent: HOSTILE_NAMES[2]! }, until: BIG }),
      freeze('frz_b', { at: 11 }),
    ];
    for (const one of set.toReversed()) expect(await store.setFreeze('t', one)).toBe(true);
    expect(await store.freezesInForce('t', 20)).toEqual(set);
    expect(await store.listFreezes('t')).toEqual(set.toReversed());
    expect(await store.listFreezes('t', 1)).toEqual([set[2]]);
    expect(await store.freezesInForce('other', 20)).toEqual([]);
  });

  test('of which as many are in force as may be: another one is refused, and one that was set is not, however often it is sent', async () => {
    const ids = Array.from({ length: FREEZES_MAX }, (_, index) => `frz_${index}`);
    for (const id of ids) expect(await store.setFreeze('t', freeze(id))).toBe(true);
    expect(await store.setFreeze('t', freeze('frz_more'))).toBe(false);
    expect(await store.setFreeze('t', freeze(ids.at(-1)!))).toBe(true);
    expect(await store.freezesInForce('t', 20)).toHaveLength(FREEZES_MAX);
    const frozen = await store.readAudit('t', { limit: 2 * FREEZES_MAX });
    expect(frozen).toHaveLength(FREEZES_MAX);
  });

  test('end by themselves, or when they are lifted, once', async () => {
    await store.setFreeze('t', freeze('short', { until: 20 }));
    await store.setFreeze('t', freeze('open'));
    const ids = async (at: number) => (await store.freezesInForce('t', at)).map(({ id }) => id);
    expect(await ids(19)).toEqual(['open', 'short']);
    expect(await ids(20)).toEqual(['open']);
    const lifting = { id: 'open', at: 21, by: 'ann', reason: 'over' };
    expect(await store.liftFreeze('t', { ...lifting, id: 'short' })).toBe(false);
    expect(await store.liftFreeze('other', lifting)).toBe(false);
    expect(await store.liftFreeze('t', lifting)).toBe(true);
    expect(await store.liftFreeze('t', lifting)).toBe(false);
    expect(await ids(22)).toEqual([]);
    const { id: _, ...lifted } = lifting;
    expect(await store.listFreezes('t')).toContainEqual({ ...freeze('open'), lifted });
  });
});

describe('effects', () => {
  const noted = (key: string, more: Partial<EffectInput> = {}): EffectInput => ({
    tenant: 't',
    key,
    runId: 'r1',
    argsDigest: 'd',
    tool: 'pay',
    toolVersion: '1',
    attempt: 1,
    at: 5 * DAY + 1,
    identity: ['order', 'A-1'],
    spending: { amount: 100, customer: 'cora' },
    approvedBy: ['mia'],
    reference: 'r1:0',
    ...more,
  });
  /** As a worker does it: an effect stands beside its claim. */
  async function note(input: EffectInput): Promise<void> {
    const { tenant, key, argsDigest, attempt, runId, tool } = input;
    const target = { tenant, key, argsDigest, attempt, runId, tool, callKey: '1' };
    await store.claim({ ...target, claimedUntil: BIG, sameKeyRetry: false });
    await store.noteEffect(input);
  }
  const totals = (of: Partial<Spender> = {}, spending: object = { customer: 'cora' }) =>
    store.totalsFor({ tenant: 't', tool: 'pay', ...of }, { amount: 1, ...spending }, 5 * DAY + 9);

  test('are found by each text of what they are about, the newest first', async () => {
    await store.appendEvents(
      { tenant: 't', runId: 'r1', execution: 'e' },
      eventsFrom(0, [SESSION_INIT]),
    );
    for (const key of ['B', 'a', '_']) await note(noted(key));
    await note(noted('late', { at: 6 * DAY, identity: HOSTILE_NAMES, runId: 'unknown' }));
    const rows = await store.listEffects('t', { subject: 'A-1' });
    expect(rows.map(({ key }) => key)).toEqual(['B', '_', 'a']);
    expect(rows[0]).toEqual({
      key: 'B',
      runId: 'r1',
      tool: 'pay',
      toolVersion: '1',
      at: 5 * DAY + 1,
      state: 'under_way',
      amount: 100,
      approvedBy: ['mia'],
      agent: 'refund',
      caller: 'alice',
      identity: ['order', 'A-1'],
      customer: 'cora',
      reference: 'r1:0',
    });
    for (const subject of HOSTILE_NAMES) {
      const found = await store.listEffects('t', { subject, limit: 1 });
      expect(found).toMatchObject([{ key: 'late', agent: '' }]);
    }
    // As releases have noted it that took texts as tools gave them.
    await note(noted('decomposed', { identity: ['zoe\u0308', 'A-2'] }));
    const old = await store.listEffects('t', { subject: 'zoe\u0308' });
    expect(old).toMatchObject([{ key: 'decomposed' }]);
    expect(await store.listEffects('t', { subject: 'a-1' })).toEqual([]);
    expect(await store.listEffects('t', { subject: 'A-%' })).toEqual([]);
    expect(await store.listEffects('other', { subject: 'A-1' })).toEqual([]);
  });

  test('for the same identity are told to who comes after, without its own', async () => {
    await note(noted('k1'));
    await note(noted('k2', { at: 5 * DAY + 2, approvedBy: [] }));
    const earlier = { tenant: 't', tool: 'pay', identity: ['order', 'A-1'], since: 0, limit: 9 };
    const keys = async (more: object = {}) =>
      (await store.earlierEffects({ ...earlier, ...more })).map(({ key }) => key);
    expect(await keys()).toEqual(['k2', 'k1']);
    expect(await keys({ key: 'k2' })).toEqual(['k1']);
    expect(await keys({ since: 5 * DAY + 2 })).toEqual(['k2']);
    expect(await keys({ limit: 1 })).toEqual(['k2']);
    expect(await keys({ identity: ['A-1', 'order'] })).toEqual([]);
  });

  test('add up across runs, are numbers, and are given back once', async () => {
    await note(noted('k1', { spending: { amount: BIG - 100, customer: 'cora' } }));
    await note(noted('k2', { runId: 'r2' }));
    await note(noted('k3', { spending: { amount: 0 }, identity: [] }));
    await note(noted('k4', { at: 4 * DAY, spending: { amount: 0, customer: 'Cora' } }));
    expect(await totals()).toEqual({
      perCustomerAndDay: { amount: BIG, count: 2 },
      perDay: { amount: BIG, count: 3 },
      inAll: { amount: BIG, count: 4 },
    });
    expect(await totals({ key: 'k2' })).toMatchObject({
      perCustomerAndDay: { amount: BIG - 100, count: 1 },
      inAll: { amount: BIG - 100, count: 3 },
    });
    expect(await totals({}, {})).toMatchObject({ perCustomerAndDay: { amount: 0, count: 0 } });
    expect(await store.releaseEffect(noted('k1'))).toBe(true);
    expect(await store.releaseEffect(noted('k1'))).toBe(false);
    expect((await totals()).perCustomerAndDay).toEqual({ amount: 100, count: 1 });
    expect(await store.listEffects('t', { subject: 'A-1' })).toMatchObject([
      { key: 'k2' },
      { key: 'k4' },
    ]);
  });

  test('that claim at once for one tool are all counted', async () => {
    const keys = Array.from({ length: 20 }, (_, index) => `k${index}`);
    await Promise.all(keys.map((key) => note(noted(key, { runId: key }))));
    expect((await totals()).inAll).toEqual({ amount: 2_000, count: 20 });
  });
});
