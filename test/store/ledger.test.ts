import fc from 'fast-check';
import { decideClaim } from '../../pure/ledger.js';
import type { LedgerSubject, LedgerTarget } from '../../store/ledger.js';
import type { Store } from '../../store/store.js';
import { cleanUp, HOSTILE_NAMES, newStore } from './fixtures.js';

let store: Store;
let key = '';

beforeAll(async () => {
  store = (await newStore()).store;
});
beforeEach(() => {
  key = `${key}k`;
});
afterAll(cleanUp);

const OK = { text: 'refunded' };

function target(attempt = 1, argsDigest = 'd1'): LedgerTarget & LedgerSubject {
  return { tenant: 't', key, argsDigest, attempt, runId: 'r1', callKey: '1', tool: 'pay' };
}

function claim(attempt = 1, argsDigest = 'd1', sameKeyRetry = false) {
  return store.claim({ ...target(attempt, argsDigest), claimedUntil: 5000, sameKeyRetry });
}

function record(attempt = 1, argsDigest = 'd1') {
  return store.record({ ...target(attempt, argsDigest), result: OK, source: 'tool' });
}

function read() {
  return store.getLedgerRow('t', key);
}

test('a claim without a row succeeds and says until when it holds', async () => {
  const { claimed, row } = await claim();
  expect(claimed).toBe(true);
  expect(row).toEqual({
    ...target(),
    state: 'claimed',
    wasClaimed: true,
    definite: false,
    claimedUntil: 5000,
  });
  expect(await read()).toEqual(row);
});

test('a second claim fails and is told what stands in its way', async () => {
  await claim();
  expect(await claim()).toMatchObject({ claimed: false, row: { state: 'claimed', attempt: 1 } });
  expect((await claim(2)).claimed).toBe(false);
});

test('L1: a void row of a smaller attempt can be claimed, of the same or a greater one never', async () => {
  await claim();
  await store.burn(target());
  expect((await claim(1)).claimed).toBe(false);
  expect(await claim(2)).toMatchObject({ claimed: true, row: { attempt: 2, state: 'claimed' } });
  await store.burn(target(2));
  expect((await claim(1)).claimed).toBe(false);
});

test('L1: a void row of other arguments cannot be claimed', async () => {
  await store.burn(target());
  expect((await claim(2, 'd2')).claimed).toBe(false);
});

test('a tool that knows its key may renew the claim of the same attempt and arguments, and nothing else', async () => {
  await claim();
  const renewed = await store.claim({ ...target(), claimedUntil: 7000, sameKeyRetry: true });
  expect(renewed).toMatchObject({ claimed: true, row: { claimedUntil: 7000 } });
  const earlier = await store.claim({ ...target(), claimedUntil: 6000, sameKeyRetry: true });
  expect(earlier).toMatchObject({ claimed: true, row: { claimedUntil: 7000 } });
  expect((await claim(2, 'd1', true)).claimed).toBe(false);
  expect((await claim(1, 'd2', true)).claimed).toBe(false);
  await record();
  expect((await claim(1, 'd1', true)).claimed).toBe(false);
  expect(await read()).toMatchObject({ state: 'recorded', result: OK });
});

test('a result is recorded once, by the claim that it belongs to', async () => {
  expect(await record()).toBe(false);
  await claim();
  expect(await record(2)).toBe(false);
  expect(await record(1, 'd2')).toBe(false);
  expect(await record()).toBe(true);
  expect(await record()).toBe(false);
  expect(await read()).toMatchObject({ state: 'recorded', result: OK, source: 'tool' });
});

test('L2: nothing changes a recorded row', async () => {
  await claim();
  await record();
  const before = await read();
  expect((await claim(2)).claimed).toBe(false);
  expect((await claim(2, 'd2')).claimed).toBe(false);
  expect(await store.voidClaim({ tenant: 't', key, attempt: 1 })).toBe(false);
  expect(await store.burn(target(9))).toEqual(before);
  const late = { ...target(), result: { text: 'no' }, source: 'person' } as const;
  expect(await store.recordByPerson(late)).toBe(false);
  expect(await read()).toEqual(before);
});

test('L3: what was burned before any claim can never be claimed under the same attempt', async () => {
  expect(await store.burn(target())).toMatchObject({ state: 'void', wasClaimed: false });
  expect((await claim()).claimed).toBe(false);
  expect((await claim(1, 'd1', true)).claimed).toBe(false);
});

test('L3: a burned claim can no longer record, and the row remembers that it was claimed', async () => {
  await claim();
  expect(await store.burn(target())).toMatchObject({ state: 'void', wasClaimed: true, attempt: 1 });
  expect(await record()).toBe(false);
  expect(await store.burn(target())).toMatchObject({ state: 'void', wasClaimed: true });
});

test('burning a later attempt than a void row raises it, as never claimed', async () => {
  await claim();
  await store.burn(target());
  expect(await store.burn(target(2))).toMatchObject({
    state: 'void',
    attempt: 2,
    wasClaimed: false,
  });
  expect((await claim(2)).claimed).toBe(false);
  expect((await claim(3)).claimed).toBe(true);
});

test('burning leaves a greater attempt and other arguments alone', async () => {
  await store.burn(target());
  await claim(2);
  expect(await store.burn(target(1))).toMatchObject({ state: 'claimed', attempt: 2 });
  expect(await store.burn(target(2, 'd2'))).toMatchObject({ state: 'claimed', argsDigest: 'd1' });
});

test('burning a later attempt than a claim voids the claim and keeps that it was claimed', async () => {
  await claim();
  expect(await store.burn(target(2))).toMatchObject({
    state: 'void',
    attempt: 2,
    wasClaimed: true,
  });
});

test('a definite failure voids the claim such that the attempt counts as not happened', async () => {
  await claim();
  expect(await store.voidClaim({ tenant: 't', key, attempt: 2 })).toBe(false);
  expect(await store.voidClaim({ tenant: 't', key, attempt: 1 })).toBe(true);
  expect(await read()).toMatchObject({ state: 'void', wasClaimed: false, definite: true });
  expect(await store.voidClaim({ tenant: 't', key, attempt: 1 })).toBe(false);
  expect((await claim()).claimed).toBe(false);
  expect(await claim(2)).toMatchObject({
    claimed: true,
    row: { wasClaimed: true, definite: false },
  });
});

test('a person or a probe records what became of a burned attempt, of that attempt and digest only', async () => {
  const says = { ...target(), result: OK, source: 'person' } as const;
  expect(await store.recordByPerson(says)).toBe(false);
  await claim();
  expect(await store.recordByPerson(says)).toBe(false);
  await store.burn(target());
  expect(await store.recordByPerson({ ...says, attempt: 2 })).toBe(false);
  expect(await store.recordByPerson({ ...says, argsDigest: 'd2' })).toBe(false);
  expect(await store.recordByPerson({ ...says, source: 'probe' })).toBe(true);
  expect(await store.recordByPerson(says)).toBe(false);
  expect(await read()).toMatchObject({ state: 'recorded', result: OK, source: 'probe' });
});

test('hostile names are ordinary keys, each with a row of its own', async () => {
  for (const name of HOSTILE_NAMES) {
    const input = { ...target(), tenant: name, key: name, runId: 'hostile', tool: name };
    const { claimed } = await store.claim({ ...input, claimedUntil: 1, sameKeyRetry: false });
    expect(claimed).toBe(true);
    expect(await store.getLedgerRow(name, name)).toMatchObject({ key: name, tool: name });
    expect(await store.listLedger(name, { runId: 'hostile' })).toHaveLength(1);
  }
  expect(await store.getLedgerRow('__proto__', 'constructor')).toBeUndefined();
});

test('names that SQLite would change are refused instead of meeting in one row', async () => {
  for (const name of ['', 'a\0b', 'a\ud800', 'x'.repeat(2000)]) {
    await expect(store.getLedgerRow('t', name)).rejects.toMatchObject({ code: 'InvalidRequest' });
    await expect(store.burn({ ...target(), key: name })).rejects.toMatchObject({
      code: 'InvalidRequest',
    });
  }
});

test('L1 to L3: a row of another run with the same arguments is neither claimed nor burned', async () => {
  const foreign = { ...target(2), runId: 'r2' };
  await claim();
  const before = await read();
  expect(await store.burn(foreign)).toEqual(before);
  const taken = { claimedUntil: 6000, sameKeyRetry: true };
  expect((await store.claim({ ...target(), runId: 'r2', ...taken })).claimed).toBe(false);
  await store.burn(target());
  expect((await store.claim({ ...foreign, ...taken })).claimed).toBe(false);
  expect(await read()).toMatchObject({ runId: 'r1', state: 'void', attempt: 1 });
});

test('a word after the attempt was taken away is kept once, and decides nothing', async () => {
  const late = { ...target(), at: 7, result: { text: 'too late' } };
  await claim();
  expect(await store.noteLate(late)).toBe(false);
  await store.burn(target());
  expect(await store.noteLate({ ...late, runId: 'r2' })).toBe(false);
  expect(await store.noteLate({ ...late, argsDigest: 'd2' })).toBe(false);
  expect(await store.noteLate(late)).toBe(true);
  expect(await store.noteLate({ ...late, result: { text: 'again' } })).toBe(false);
  const word = { attempt: 1, at: 7, result: { text: 'too late' } };
  expect(await read()).toMatchObject({ state: 'void', late: word });
  await claim(2);
  await record(2);
  expect(await read()).toMatchObject({ state: 'recorded', attempt: 2, result: OK, late: word });
});

test('what a claim recorded itself is no late word', async () => {
  await claim();
  await record();
  expect(await store.noteLate({ ...target(), at: 7, result: OK })).toBe(false);
});

test('the rows of a run are listed by key, page by page', async () => {
  for (const each of ['a', 'b', 'c']) {
    await store.burn({ ...target(), key: `list:${each}`, runId: 'listed' });
  }
  const page = await store.listLedger('t', { runId: 'listed', limit: 2 });
  expect(page.map((row) => row.key)).toEqual(['list:a', 'list:b']);
  const next = await store.listLedger('t', { runId: 'listed', limit: 2, after: 'list:b' });
  expect(next.map((row) => row.key)).toEqual(['list:c']);
});

test('in every sequence of transitions the store claims exactly when the core would, and L1 to L3 hold', async () => {
  const steps = fc.record({
    kind: fc.constantFrom('claim', 'renew', 'record', 'void', 'burn', 'person'),
    attempt: fc.integer({ min: 1, max: 3 }),
    digest: fc.constantFrom('d1', 'd1', 'd1', 'd2'),
  });
  let round = 0;
  await fc.assert(
    fc.asyncProperty(fc.array(steps, { maxLength: 14 }), async (sequence) => {
      round += 1;
      key = `random:${round}`;
      for (const step of sequence) await takeStep(step);
    }),
    { numRuns: 150 },
  );
});

interface Step {
  readonly kind: string;
  readonly attempt: number;
  readonly digest: string;
}

async function takeStep({ kind, attempt, digest }: Step): Promise<void> {
  const before = await read();
  const at = target(attempt, digest);
  let claimed = false;
  if (kind === 'claim' || kind === 'renew') {
    claimed = (await claim(attempt, digest, kind === 'renew')).claimed;
    const retry = kind === 'renew' ? 'same_key' : 'single';
    expect(claimed).toBe(
      decideClaim(before, { runId: 'r1', digest, attempt, retry }).kind === 'claim',
    );
  } else if (kind === 'record') await record(attempt, digest);
  else if (kind === 'void') await store.voidClaim({ tenant: 't', key, attempt });
  else if (kind === 'burn') await store.burn(at);
  else await store.recordByPerson({ ...at, result: OK, source: 'person' });
  const after = await read();
  if (before?.state === 'recorded') expect(after).toEqual(before);
  if (before !== undefined) expect(after?.argsDigest).toBe(before.argsDigest);
  expect(after?.attempt ?? 0).toBeGreaterThanOrEqual(before?.attempt ?? 0);
  if (before?.state === 'void' && after?.state === 'claimed') {
    expect(after.attempt).toBeGreaterThan(before.attempt);
  }
}
