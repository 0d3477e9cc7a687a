/** Records that are not as this release writes them: nothing of them is an error that people cannot read. */
import type { Json } from '../../core/json/json.js';
import { HoldfastError } from '../../core/state/errors.js';
import { foldOf } from '../../recording/fold.js';
import { isObject, isPayload, payloadValue } from '../../recording/history.js';
import type { Bundle } from '../../replay/bundle.js';
import { recordOfBundle } from '../../replay/open-record.js';
import { toldMoment } from '../../replay/told-moment.js';
import { drawn } from '../draw.js';
import { stored } from '../replay/setup.js';
import { saySeed, SEED } from '../seed.js';

const DRAWN = 70;
saySeed(`${DRAWN} changes of each record`);

function* others(value: Json, depth: number): Generator<Json> {
  yield* [null, 5, [], {}];
  if (typeof value !== 'object' || value === null) return;
  if (isObject(value)) {
    for (const name of Object.keys(value)) {
      const { [name]: _, ...rest } = value;
      yield rest;
    }
  }
  if (depth === 0) return;
  for (const [name, inner] of Object.entries(value)) {
    for (const other of others(inner as Json, depth - 1)) {
      yield isObject(value) ? { ...value, [name]: other } : value.with(Number(name), other);
    }
  }
}

/** Histories with another value in one payload. */
function* withOthers(value: Json): Generator<Json> {
  if (typeof value !== 'object' || value === null) return;
  if (isObject(value) && isPayload(value)) {
    for (const other of others(payloadValue(value), 1)) {
      yield { ...value, data: Buffer.from(JSON.stringify(other)).toString('base64') };
    }
    return;
  }
  for (const [name, inner] of Object.entries(value)) {
    for (const other of withOthers(inner as Json)) {
      yield isObject(value) ? { ...value, [name]: other } : value.with(Number(name), other);
    }
  }
}

test('histories with other values are followed as far as the code of today takes them', async () => {
  const reasons = new Set<string>();
  for (const name of ['approved', 'conversation', 'continue-as-new']) {
    const bundle = await stored(name);
    const all = bundle.segments.flatMap(({ events, ...segment }, index) =>
      [...withOthers(events as unknown as Json)].map((other): Bundle => ({
        ...bundle,
        segments: bundle.segments.with(index, { ...segment, events: other as never }),
      })),
    );
    for (const other of drawn(all, DRAWN, SEED)) {
      const record = await recordOfBundle(other);
      const { steps, divergences } = record.fold;
      for (const { reason } of divergences) reasons.add(reason.slice(0, 20));
      for (const { step } of steps.slice(-2)) await toldMoment(record, step);
    }
  }
  expect([...reasons]).toContainEqual(expect.stringMatching(/^Today’s code cannot/));
});

test('a carried state that cannot be shown ends the steps where it is taken up', async () => {
  const bundle = await stored('continue-as-new');
  const without = JSON.parse(
    JSON.stringify(bundle).replaceAll(/"data":"([A-Za-z0-9+/=]+)"/g, (whole, data: string) => {
      const value = JSON.parse(Buffer.from(data, 'base64').toString('utf8')) as Json;
      if (!isObject(value) || !isObject(value['continued'] ?? null)) return whole;
      const { queue: _, ...continued } = value['continued'] as { readonly [name: string]: Json };
      const text = JSON.stringify({ ...value, continued });
      return `"data":"${Buffer.from(text).toString('base64')}"`;
    }),
  ) as Bundle;
  const record = await recordOfBundle(without);
  expect(record.fold.divergences.map(({ reason }) => reason)).toContainEqual(
    expect.stringMatching(/^Today’s code cannot/),
  );
  for (const { step } of record.fold.steps) await toldMoment(record, step);
});

test('a history that follows the rules of a later release says so where it begins', async () => {
  const bundle = await stored('completed');
  const newer = JSON.parse(
    JSON.stringify(bundle).replaceAll(/"data":"([A-Za-z0-9+/=]+)"/g, (whole, data: string) => {
      const text = Buffer.from(data, 'base64').toString('utf8');
      const other = text.replace(/"rules":\d+/, '"rules":999');
      return text === other ? whole : `"data":"${Buffer.from(other).toString('base64')}"`;
    }),
  ) as Bundle;
  const { divergences } = foldOf(newer);
  expect(divergences).toHaveLength(1);
  expect(divergences[0]!.reason).toMatch(/follows rules 999, this worker knows \d+/);
});

test('messages of another form are a sentence in place of the request', async () => {
  const bundle = await stored('conversation');
  const record = await recordOfBundle(bundle);
  const asking = record.fold.steps.filter(({ effects }) =>
    effects.some(({ kind }) => kind === 'call_model'),
  );
  const all = Object.entries(bundle.nodes).flatMap(([hash, node]) =>
    [...others(node as unknown as Json, 3)].map((other) => ({ ...bundle.nodes, [hash]: other })),
  );
  let missing = 0;
  for (const nodes of drawn(all, DRAWN, SEED)) {
    const referred = async () => ({ ...bundle, nodes: nodes as Bundle['nodes'] });
    for (const { step } of asking) {
      const told = await toldMoment({ ...record, referred }, step);
      if (told.request?.missing?.includes('another form') === true) missing += 1;
    }
  }
  expect(missing).toBeGreaterThan(0);
  const none = { ...record, referred: () => Promise.reject(new HoldfastError('Internal', 'gone')) };
  expect((await toldMoment(none, asking[0]!.step)).request).toMatchObject({ missing: 'gone' });
});
