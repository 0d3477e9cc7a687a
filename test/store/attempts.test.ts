import { cleanUp, newStore } from './fixtures.js';

afterAll(cleanUp);

const START = {
  tenant: 't',
  runId: 'r1',
  effectId: 'model:1',
  kind: 'model',
  boundCostMicroUsd: 900,
  boundInputTokens: 100,
  boundOutputTokens: 50,
  startedAt: 1000,
} as const;

test('attempts of an effect are numbered from 1 and end once', async () => {
  const { store } = await newStore();
  expect(await store.startAttempt(START)).toBe(1);
  expect(await store.startAttempt({ ...START, startedAt: 2000 })).toBe(2);
  expect(await store.startAttempt({ ...START, effectId: 'model:2' })).toBe(1);
  const usage = { input: 10, output: 2, cacheRead: 0, cacheWrite: 0 };
  const end = {
    outcome: 'failed',
    code: 'Overloaded',
    usage,
    costMicroUsd: 12,
    estimated: true,
    finishedAt: 1500,
  } as const;
  const { tenant, runId, effectId, ...bounds } = START;
  expect(await store.finishAttempt({ tenant, runId, effectId, attempt: 1, ...end })).toBe(true);
  const lost = { outcome: 'lost', estimated: false, finishedAt: 9 } as const;
  expect(await store.finishAttempt({ tenant, runId, effectId, attempt: 1, ...lost })).toBe(false);
  expect(await store.finishAttempt({ tenant, runId, effectId, attempt: 3, ...lost })).toBe(false);
  expect(await store.listAttempts(tenant, runId, effectId)).toEqual([
    { ...bounds, attempt: 1, end },
    { ...bounds, attempt: 2, startedAt: 2000 },
  ]);
});

test('a run has used the tokens of its attempts, and the bounds of those without an end', async () => {
  const { store } = await newStore();
  const none = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 };
  expect(await store.attemptedUsage('t', 'r1')).toEqual(none);
  const usage = { input: 10, output: 2, cacheRead: 3, cacheWrite: 4 };
  const end = {
    outcome: 'ok',
    usage,
    costMicroUsd: 12,
    estimated: false,
    finishedAt: 1500,
  } as const;
  for (const effectId of ['model:1', 'model:2']) {
    const attempt = await store.startAttempt({ ...START, effectId });
    await store.finishAttempt({ tenant: 't', runId: 'r1', effectId, attempt, ...end });
  }
  await store.startAttempt({ ...START, effectId: 'model:3' });
  await store.startAttempt({ ...START, runId: 'r2' });
  const used = { input: 120, output: 54, cacheRead: 6, cacheWrite: 8 };
  expect(await store.attemptedUsage('t', 'r1')).toEqual(used);
});

test('of two replies to one request the first stays, and both writers learn it', async () => {
  const { store } = await newStore();
  const key = { tenant: 't', runId: 'r1', call: 1, requestDigest: 'd' };
  expect(await store.getReply(key)).toBeUndefined();
  expect(await store.putReply({ ...key, output: { text: 'first' } })).toEqual({ text: 'first' });
  expect(await store.putReply({ ...key, output: { text: 'second' } })).toEqual({ text: 'first' });
  expect(await store.getReply(key)).toEqual({ text: 'first' });
  expect(await store.getReply({ ...key, requestDigest: 'e' })).toBeUndefined();
  const huge = 'x'.repeat(2 * 1024 * 1024);
  await expect(store.putReply({ ...key, call: 2, output: huge })).rejects.toMatchObject({
    code: 'InvalidRequest',
  });
});

test('archived histories come back by segment, and the first archive stays', async () => {
  const { store } = await newStore();
  const archive = (segment: number, text: string) =>
    store.archiveHistory({
      tenant: 't',
      runId: 'r1',
      segment,
      execution: `exec-${segment}`,
      history: Buffer.from(text),
    });
  await archive(1, 'two');
  await archive(0, 'one'.repeat(1000));
  await archive(0, 'other');
  const read = await store.readHistories('t', 'r1');
  expect(read.map(({ segment, execution }) => [segment, execution])).toEqual([
    [0, 'exec-0'],
    [1, 'exec-1'],
  ]);
  expect(read.map(({ history }) => Buffer.from(history).toString())).toEqual([
    'one'.repeat(1000),
    'two',
  ]);
  const execution = { tenant: 't', runId: 'r1', execution: 'exec-1' };
  const one = await store.readHistory(execution);
  expect(Buffer.from(one!.history).toString()).toBe('two');
  expect(await store.readHistory({ ...execution, tenant: 'other' })).toBeUndefined();
});
