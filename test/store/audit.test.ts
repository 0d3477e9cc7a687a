/** The audit trail: every kind of tampering is found; the desk's keys are what they were for ever. */
import { writeFileSync } from 'node:fs';
import { join, dirname } from 'node:path';
import { checkAudit, readSignedHead } from '../../cli/desk/audit-check.js';
import { runCli } from '../../cli/program.js';
import { generateKeyPairSync } from 'node:crypto';
import { signerOf } from '../../client/decide/desk-signer.js';
import { chained, emptyHead, type AuditEntry, type AuditRow } from '../../pure/audit.js';
import { ALL_TENANTS } from '../../store/desk-keys.js';
import {
  askView,
  cleanUp,
  eventsFrom,
  newFile,
  newStore,
  rawRows,
  SESSION_INIT,
  type Opened,
} from './fixtures.js';

afterEach(cleanUp);

const ROWS = 7;
const EMPTY = emptyHead('default');
const desk = signerOf(generateKeyPairSync('ed25519').privateKey);

const entry = (index: number): AuditEntry => ({
  at: 1_000 + index,
  kind: 'decided',
  by: 'mia',
  runId: `run_${index}`,
  askId: `run_${index}:0`,
  facts: { decision: 'approve', note: `nö ${index} \ud800 \u0000` },
});

async function trail(): Promise<Opened> {
  const opened = await newStore();
  for (let index = 1; index <= ROWS; index += 1) {
    await opened.store.appendAudit('default', [entry(index)]);
  }
  return opened;
}

async function tamper(place: string, ...statements: readonly string[]): Promise<void> {
  for (const statement of statements) await rawRows(place, statement);
}

test('rows are chained in order, whoever writes them at once, and each tenant has its own chain', async () => {
  const { store } = await newStore();
  const writers = Array.from({ length: 20 }, (_, index) =>
    store.appendAudit(index % 2 === 0 ? 'a' : 'b', [entry(index), entry(index)]),
  );
  await Promise.all(writers);
  for (const tenant of ['a', 'b']) {
    expect(await checkAudit(store, tenant, [])).toMatchObject({ rows: 20, head: { seq: 20 } });
    expect(await store.auditHead(tenant)).toMatchObject({ seq: 20 });
  }
  expect(await store.readAudit('c', { limit: 9 })).toEqual([]);
});

test('a row whose write was left without an answer is there once, also where others came since', async () => {
  const { store } = await newStore();
  const seen: AuditEntry = { ...entry(1), kind: 'seen' };
  const denied: AuditEntry = {
    at: 1_000,
    kind: 'access_denied',
    by: 'eve',
    facts: { status: 404 },
  };
  const again = [seen, denied].map((one) => ({ ...one, sentBefore: true }) as const);
  await store.appendAudit('default', [seen, denied]);
  await store.appendAudit('default', [entry(2)]);
  await store.appendAudit('default', again);
  expect(await store.auditHead('default')).toMatchObject({ seq: 3 });
  // Another time, another person, other facts, another tenant: another row.
  const others = [{ at: 1_001 }, { by: 'mia' }, { facts: { status: 403 } }, { runId: 'run_1' }];
  const more = others.map((one) => ({ ...denied, ...one, sentBefore: true }) as const);
  await store.appendAudit('default', more);
  await store.appendAudit('other', again);
  expect(await store.auditHead('default')).toMatchObject({ seq: 7 });
  expect(await store.auditHead('other')).toMatchObject({ seq: 2 });
  // What was not sent before is what somebody did once more.
  await store.appendAudit('default', [denied]);
  expect(await checkAudit(store, 'default', [])).toMatchObject({ rows: 8 });
  const rows = await store.readAudit('default', { limit: 9 });
  expect(JSON.stringify(rows)).not.toContain('sentBefore');
});

test('what a transaction says of itself is in the trail when it has been committed, and never otherwise', async () => {
  const { store } = await newStore();
  const undone = store.together(async (calls) => {
    await calls.appendAudit('default', [entry(1)]);
    throw new Error('undone');
  });
  await expect(undone).rejects.toThrow('undone');
  await store.together((calls) => calls.appendAudit('default', [entry(2), entry(3)]));
  const rows = await store.readAudit('default', { limit: 9 });
  expect(rows.map(({ runId }) => runId)).toEqual(['run_2', 'run_3']);
});

test('facts with names that objects order or treat in their own way are as they were written', async () => {
  const { store } = await newStore();
  const facts = JSON.parse(
    '{"b":-0,"10":1e21,"2":"\\u0000\\ud800\\ufdd0","__proto__":{"toJSON":null},"a":1.0}',
  ) as AuditEntry['facts'];
  await store.appendAudit('default', [{ ...entry(1), facts }]);
  expect(await checkAudit(store, 'default', [])).toMatchObject({ rows: 1 });
  expect((await checkAudit(store, 'default', [])).fault).toBeUndefined();
  const [row] = await store.readAudit('default', { limit: 1 });
  expect(Object.keys(row?.facts ?? {})).toEqual(['2', '10', 'b', '__proto__', 'a']);
});

test.each<[string, string, readonly string[]]>([
  ['changed', 'changed', ["update audit set by_whom = 'eve' where seq = 3"]],
  ['changed in its facts', 'changed', [`update audit set facts_json = '{}' where seq = 3`]],
  ['changed to no JSON', 'changed', [`update audit set facts_json = 'x' where seq = 3`]],
  ['changed in its time', 'changed', ['update audit set at = at - 1 where seq = 3']],
  ['removed', 'missing', ['delete from audit where seq = 3']],
  [
    'changed to facts with a name twice',
    'changed',
    [
      `update audit set facts_json = replace(facts_json, '{', '{"decision":"reject",') where seq = 3`,
    ],
  ],
  [
    'changed in the blanks of its facts',
    'changed',
    [`update audit set facts_json = facts_json || ' ' where seq = 3`],
  ],
  [
    'changed in how its facts are spelled',
    'changed',
    [`update audit set facts_json = replace(facts_json, 'approve', '\\u0061pprove') where seq = 3`],
  ],
  ...[0, -5].map((seq): [string, string, readonly string[]] => [
    `inserted as number ${seq}`,
    'misplaced',
    [
      `insert into audit select tenant, ${seq}, at, kind, 'eve', run_id, ask_id, facts_json, prev_hash, hash
       from audit where seq = 3`,
    ],
  ]),
  [
    'removed and closed up',
    'changed',
    [
      'delete from audit where seq = 3',
      'update audit set seq = 1 - seq where seq > 3',
      'update audit set seq = -seq where seq < 0',
    ],
  ],
  [
    'inserted',
    'changed',
    [
      'update audit set seq = -seq - 1 where seq > 3',
      'update audit set seq = -seq where seq < 0',
      `insert into audit select tenant, 4, at, kind, by_whom, run_id, ask_id, facts_json, prev_hash, hash
       from audit where seq = 3`,
    ],
  ],
  [
    'reordered',
    'changed',
    [
      'update audit set seq = -3 where seq = 3',
      'update audit set seq = 3 where seq = 4',
      'update audit set seq = 4 where seq = -3',
    ],
  ],
])('a row that was %s is found', async (_what, what, statements) => {
  const { store, place } = await trail();
  const head = await store.auditHead('default');
  expect((await checkAudit(store, 'default', [head])).fault).toBeUndefined();
  await tamper(place, ...statements);
  const { fault, rows } = await checkAudit(store, 'default', [head]);
  expect(fault).toMatchObject({ what, seq: what === 'missing' ? 3 : expect.any(Number) });
  expect(rows).toBeLessThan(ROWS);
});

describe('with a head that was kept elsewhere', () => {
  test('rows that were cut off are found', async () => {
    const { store, place } = await trail();
    const head = await store.auditHead('default');
    await tamper(place, 'delete from audit where seq > 5');
    expect((await checkAudit(store, 'default', [])).fault).toBeUndefined();
    expect((await checkAudit(store, 'default', [head])).fault).toMatchObject({ what: 'cut_off' });
  });

  test('a whole new chain, with all its hashes right, is found', async () => {
    const { store, place } = await trail();
    const head = await store.auditHead('default');
    const rows = await store.readAudit('default', { limit: 99 });
    let before = { tenant: 'default', seq: 0, hash: '0'.repeat(64) };
    const other = rows.map((kept): AuditRow => {
      const { tenant: _, seq, prev: __, hash: ___, ...said } = kept;
      const row = chained(before, seq === 2 ? { ...said, by: 'eve' } : said);
      before = { tenant: 'default', seq, hash: row.hash };
      return row;
    });
    for (const { seq, prev, hash, by } of other) {
      const set = `by_whom = '${by}', prev_hash = '${prev}', hash = '${hash}'`;
      await tamper(place, `update audit set ${set} where seq = ${seq}`);
    }
    expect((await checkAudit(store, 'default', [])).fault).toBeUndefined();
    const { fault } = await checkAudit(store, 'default', [head]);
    expect(fault).toMatchObject({ what: 'not_the_signed_head' });
  });

  const read = async (store: Opened['store'], head: object, tenant = 'default') => {
    const path = join(dirname(newFile()), 'head.json');
    writeFileSync(path, JSON.stringify(head));
    return readSignedHead(path, tenant, await store.listDeskKeys(ALL_TENANTS));
  };

  test('a head that nobody of the desk has signed is not taken', async () => {
    const { store } = await trail();
    await store.addDeskKey({ tenant: ALL_TENANTS, ...desk.key, at: 1, by: 'op' });
    const signed = desk.signHead(await store.auditHead('default'), 5);
    await expect(read(store, signed)).resolves.toEqual(signed);
    await expect(read(store, { ...signed, seq: 1 })).rejects.toThrow('has signed it');
    await expect(read(store, { ...signed, hash: 'f'.repeat(64) })).rejects.toThrow('has signed it');
    await expect(read(store, signed, 'other')).rejects.toThrow('of tenant');
    await expect(read(store, { seq: 1 })).rejects.toThrow('no signed head');
  });

  test('of a key that was revoked a head is taken when it is from before, and no other', async () => {
    const { store } = await trail();
    const change = { tenant: ALL_TENANTS, kid: desk.key.kid, by: 'op' };
    await store.addDeskKey({ ...change, key: desk.key.key, at: 1 });
    const [early, late] = [5, 7].map((at) => desk.signHead(EMPTY, at));
    await store.changeDeskKey({ ...change, at: 6, to: 'retired' });
    await expect(read(store, late!)).resolves.toEqual(late);
    await store.changeDeskKey({ ...change, at: 6, to: 'revoked' });
    await expect(read(store, early!)).resolves.toEqual(early);
    await expect(read(store, late!)).rejects.toThrow('was revoked on 1970-01-01');
  });
});

async function holdfast(words: readonly string[], variables: Record<string, string> = {}) {
  let out = '';
  let err = '';
  const streams = {
    out: (text: string) => void (out += text),
    err: (text: string) => void (err += text),
  };
  const environment = { variables, folder: '/', colour: false, interactive: false };
  const code = await runCli(words, { environment, streams });
  return { code, out, err };
}

test('holdfast audit verify says what is wrong, and exits with an error', async () => {
  const { place } = await trail();
  const verify = () => holdfast(['audit', 'verify', '--store', place]);
  expect(await verify()).toMatchObject({ code: 0, out: expect.stringContaining('7 rows') });
  await tamper(place, `update audit set facts_json = facts_json || ' ' where seq = 5`);
  expect(await verify()).toMatchObject({ code: 1, out: expect.stringContaining('row 5') });
  await tamper(place, 'delete from audit where seq = 2');
  expect(await verify()).toMatchObject({ code: 1, out: expect.stringContaining('row 2') });
  await tamper(place, 'update audit set seq = 0 where seq = 4');
  expect(await verify()).toMatchObject({ code: 1, out: expect.stringContaining('row 0') });
});

test('questions of runs and decisions that do not count come into the trail with their events', async () => {
  const { store } = await newStore();
  const source = { tenant: 'default', runId: 'r1', execution: 'e1' };
  const events = eventsFrom(0, [
    SESSION_INIT,
    { type: 'approval_requested', ...askView('r1:0') },
    { type: 'warning', code: 'decision_unproven', message: 'approve by eve on r1:0 ignored' },
    { type: 'approval_resolved', askId: 'r1:0', outcome: 'approved', by: ['mia'], waitedMs: 1 },
  ]);
  await store.appendEvents(source, events);
  await store.appendEvents(source, events);
  const rows = await store.readAudit('default', { limit: 9 });
  expect(rows.map(({ kind }) => kind)).toEqual(['asked', 'ignored', 'resolved']);
  expect(rows[2]).toMatchObject({ askId: 'r1:0', facts: { outcome: 'approved', by: ['mia'] } });
});

describe('keys of the desk', () => {
  const change = { tenant: ALL_TENANTS, kid: desk.key.kid, at: 1, by: 'op' };

  test('count until they are revoked, which is for ever', async () => {
    const { store } = await newStore();
    await store.addDeskKey({ ...change, key: desk.key.key });
    expect(await store.deskKeys('any')).toEqual([desk.key]);
    expect(await store.changeDeskKey({ ...change, to: 'retired' })).toBe(true);
    expect(await store.deskKeys('any')).toEqual([desk.key]);
    expect(await store.changeDeskKey({ ...change, to: 'revoked' })).toBe(true);
    expect(await store.deskKeys('any')).toEqual([]);
    await expect(store.addDeskKey({ ...change, key: desk.key.key })).rejects.toThrow('was revoked');
    expect(await store.changeDeskKey({ ...change, to: 'retired' })).toBe(false);
    expect(await store.deskKeys('any')).toEqual([]);
    const rows = await store.readAudit(ALL_TENANTS, { limit: 9 });
    expect(rows.map(({ kind }) => kind)).toEqual(['key_added', 'key_retired', 'key_revoked']);
  });

  test('keep their id: another key under it is refused', async () => {
    const { store } = await newStore();
    await store.addDeskKey({ ...change, key: desk.key.key });
    const other = { ...change, key: 'f'.repeat(64) };
    await expect(store.addDeskKey(other)).rejects.toThrow("another key's");
  });

  test('of one tenant are not those of another', async () => {
    const { store } = await newStore();
    await store.addDeskKey({ ...change, tenant: 'a', key: desk.key.key });
    expect(await store.deskKeys('a')).toEqual([desk.key]);
    expect(await store.deskKeys('b')).toEqual([]);
  });
});

test('with a key that was revoked nobody trusts it again, and signs no head; another one does', async () => {
  const { store, place } = await trail();
  const variables = { HOLDFAST_DESK_KEY: join(dirname(newFile()), 'desk-key.json') };
  const run = (...words: readonly string[]) => holdfast([...words, '--store', place], variables);
  expect(await run('keys', 'create')).toMatchObject({ code: 0 });
  const kid = (await store.deskKeys(ALL_TENANTS))[0]!.kid;
  expect(await run('audit', 'head')).toMatchObject({ code: 0, out: expect.stringContaining(kid) });
  expect(await run('keys', 'revoke', kid)).toMatchObject({ code: 0 });
  for (const words of [
    ['keys', 'trust'],
    ['audit', 'head'],
  ]) {
    const refused = await run(...words);
    expect(refused).toMatchObject({ code: 1, out: '' });
    expect(refused.err).toMatch(/was revoked[^]*holdfast keys rotate/);
  }
  expect(await run('keys', 'rotate')).toMatchObject({ code: 0 });
  expect(await run('audit', 'head')).toMatchObject({ code: 0 });
  expect(await store.deskKeys(ALL_TENANTS)).not.toMatchObject([{ kid }]);
});

test('a request of the desk counts once, and its first time stays', async () => {
  const { store } = await newStore();
  const request = { tenant: 'a', by: 'mia', key: 'k'.repeat(8), digest: 'd1', at: 5 };
  expect(await store.takeRequest(request)).toEqual({ kind: 'open', at: 5, refusals: 0 });
  await store.noteRefusal(request, 1);
  const refused = { kind: 'open', at: 5, refusals: 1 };
  expect(await store.takeRequest({ ...request, at: 9 })).toEqual(refused);
  const other = { kind: 'other', digest: 'd1', at: 5 };
  expect(await store.takeRequest({ ...request, digest: 'd2', at: 9 })).toEqual(other);
  await store.answerRequest(request, { status: 200, body: '{}' });
  await store.answerRequest(request, { status: 409, body: '[]' });
  await store.noteRefusal(request, 2);
  const answered = { kind: 'answered', status: 200, body: '{}' };
  expect(await store.takeRequest(request)).toEqual(answered);
  expect(await store.takeRequest({ ...request, by: 'ann', at: 9 })).toMatchObject({ at: 9 });
});

test('of all that mark a request at once one does, and settled ones are passed over', async () => {
  const { store } = await newStore();
  const noted = (key: string, at: number) => ({ tenant: 'a', by: 'mia', key, digest: key, at });
  for (const one of [noted('c!2', 5), noted('c!1', 6), noted('c.b0002!1', 5), noted('c#0', 1)])
    await store.takeRequest(one);
  const below = { tenant: 'a', by: 'mia', key: 'c!' };
  const keys = async (wanted: 'all' | 'unsettled' | { readonly takenBy: string }) =>
    (await store.requestsBelow(below, wanted)).map(({ key }) => key);
  expect(await keys('all')).toEqual(['c!2', 'c!1']);
  const marks = ['x', 'y'].map((to) => store.markRequest({ ...below, key: 'c!2', from: null }, to));
  expect((await Promise.all(marks)).filter(Boolean)).toHaveLength(1);
  const [first] = await store.requestsBelow(below, 'all');
  const body = first!.body!;
  expect(await keys({ takenBy: body })).toEqual(['c!2']);
  expect(await keys('unsettled')).toEqual(['c!2', 'c!1']);
  expect(await store.markRequest({ ...below, key: 'c!2', from: body }, `=${body}`)).toBe(true);
  expect(await keys('unsettled')).toEqual(['c!1']);
  expect(await keys({ takenBy: body })).toEqual(['c!2']);
});

test('a decision that a run tells is not told again by its sender, nor the other way round', async () => {
  const { store } = await newStore();
  const said = (nonce: string, more = {}): AuditEntry => ({
    ...entry(1),
    facts: { decision: 'approve', nonce, ...more },
  });
  const nonces = async () =>
    (await store.readAudit('default', { limit: 99 })).map(({ facts }) => facts.nonce);
  await store.appendAudit('default', [said('a'), said('a', { event: 3 }), said('a', { event: 7 })]);
  await store.appendAudit('default', [said('b', { event: 4 })]);
  await store.appendAudit('default', [said('b'), said('b', { event: 4 })]);
  expect(await nonces()).toEqual(['a', 'b']);
  // What a desk writes of each of its own tries stays.
  await store.appendAudit('default', [said('c'), said('c')]);
  expect(await nonces()).toEqual(['a', 'b', 'c', 'c']);
  expect(await checkAudit(store, 'default', [])).toMatchObject({ rows: 4 });
});
