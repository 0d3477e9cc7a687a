/**
 * The store on PostgreSQL: tests of the store once more, half of their files as the seed draws, and what only concerns
 * that database. HOLDFAST_WHOLE=1: all of them; HOLDFAST_SEED: of the draw.
 */
import { readdirSync } from 'node:fs';
import { createServer, connect, type AddressInfo, type Server } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { inspect } from 'node:util';
import { Client } from 'pg';
import { openStore, openStoreAt, type Store } from '../../store/store.js';
import { drawn } from '../draw.js';
import { newPostgresUrl, postgresBinaries } from '../postgres-server.js';
import { saySeed, SEED, WHOLE } from '../seed.js';
import { cleanUp, eventsFrom, newStore, rawRows, useDatabase, warnings } from './fixtures.js';
import { CALL, REPLY } from './open-transaction.js';

const OWN = ['sqlite.test.ts', 'postgres.test.ts'];
/** Draws by itself what it plays here. */
const DRAWING = 'processes.test.ts';
const files = readdirSync(__dirname).filter(
  (name) => name.endsWith('.test.ts') && !OWN.includes(name) && name !== DRAWING,
);
const played = WHOLE ? files : drawn(files, Math.ceil(files.length / 2), SEED);
const onPostgres = postgresBinaries() === undefined ? describe.skip : describe;

onPostgres('on PostgreSQL', () => {
  useDatabase('postgres');
  beforeAll(() =>
    saySeed(`${played.length} of ${files.length} files of tests of the store on PostgreSQL`),
  );
  for (const file of [...played, DRAWING]) {
    describe(file, () => void require(join(__dirname, file)));
  }
});

onPostgres('transactions of PostgreSQL', () => {
  afterAll(cleanUp);

  test('two that wait for each other both come to an end', async () => {
    const { store } = await newStore();
    let begun = 0;
    const both = async (keys: readonly string[]): Promise<void> => {
      await store.together(async (calls) => {
        await calls.burn({ ...CALL, key: keys[0]! });
        begun += 1;
        await until(() => begun >= 2);
        await calls.burn({ ...CALL, key: keys[1]! });
      });
    };
    await Promise.all([both(['k1', 'k2']), both(['k2', 'k1'])]);
    expect(begun).toBe(3);
    expect(await store.listLedger('t', { runId: 'r1' })).toHaveLength(2);
  });

  describe('the audit trail is the last thing that a transaction takes', () => {
    const SOURCE = { tenant: 't', runId: 'r1', execution: 'e' };
    const RESOLVED = {
      type: 'approval_resolved',
      askId: 'r1:0',
      outcome: 'approved',
      by: ['mia'],
      waitedMs: 1,
    } as const;
    const freeze = (id: string) => ({
      id,
      scope: { kind: 'tenant' } as const,
      by: 'mia',
      reason: 'fraud wave',
      at: 1,
    });
    const started = (runId: string) => ({
      at: 2,
      kind: 'effect_started' as const,
      runId,
      facts: {},
    });

    test('who freezes does not wait for a claim that brought a decision along, and is seen by it', async () => {
      const { store } = await newStore();
      const seen = await store.together(async (calls) => {
        await calls.appendEvents(SOURCE, eventsFrom(0, [RESOLVED]));
        await store.setFreeze('t', freeze('frz_1'));
        const found = await calls.freezesInForce('t', 5);
        await calls.appendAudit('t', [started('r1')]);
        return found.map(({ id }) => id);
      });
      expect(seen).toEqual(['frz_1']);
      const rows = await store.readAudit('t', { limit: 9 });
      expect(rows.map(({ kind }) => kind)).toEqual(['frozen', 'resolved', 'effect_started']);
    });

    test('who claims for the same tool does not wait for one that has said something already', async () => {
      const { store } = await newStore();
      await store.together(async (calls) => {
        await calls.appendAudit('t', [started('r1')]);
        await store.together(async (others) => {
          await others.holdTool('t', 'pay');
          await others.appendAudit('t', [started('r2')]);
        });
        await calls.holdTool('t', 'pay');
      });
      const rows = await store.readAudit('t', { limit: 9 });
      expect(rows.map(({ runId }) => runId)).toEqual(['r2', 'r1']);
    });

    test('many claims and freezes at once are each done once', async () => {
      const { store } = await newStore();
      let times = 0;
      const claims = Array.from({ length: 20 }, (_, index) =>
        store.together(async (calls) => {
          times += 1;
          const runId = `r${index}`;
          await calls.appendEvents({ ...SOURCE, runId }, eventsFrom(0, [RESOLVED]));
          await calls.freezesInForce('t', 5);
          await calls.holdTool('t', 'pay');
          await calls.appendAudit('t', [started(runId)]);
        }),
      );
      const freezes = Array.from({ length: 20 }, (_, index) =>
        store.setFreeze('t', freeze(`frz_${index}`)),
      );
      await Promise.all([...claims, ...freezes]);
      expect(times).toBe(20);
      expect(await store.auditHead('t')).toMatchObject({ seq: 60 });
    });
  });

  test('a statement that failed undoes the transaction, also when its failure was swallowed', async () => {
    const { store, place } = await newStore();
    await rawRows(place, 'drop table ledger');
    const work = store.together(async (calls) => {
      await calls.putReply({ ...REPLY, output: 'before' });
      await calls.burn(CALL).catch(() => undefined);
      await calls.putReply({ ...REPLY, call: 2, output: 'after' }).catch(() => undefined);
    });
    await expect(work).rejects.toMatchObject({
      code: 'StoreUnavailable',
      hint: expect.any(String),
    });
    expect(await store.getReply(REPLY)).toBeUndefined();
    expect(await store.putReply({ ...REPLY, output: 'usable' })).toBe('usable');
  });

  test('what was begun on a lost connection is done again, and counts once', async () => {
    const { store, place } = await newStore();
    let times = 0;
    await store.together(async (calls) => {
      times += 1;
      await calls.startAttempt(ATTEMPT);
      if (times === 1) await loseConnections(place);
      await calls.startAttempt(ATTEMPT);
    });
    expect(times).toBe(2);
    expect(await store.listAttempts('t', 'r1', 'e1')).toHaveLength(2);
  });

  test('a commit whose answer is lost is not done again: nobody knows whether it counts', async () => {
    const place = await newPostgresUrl();
    const relay = await cuttingRelay(new URL(place));
    const store = await openStoreAt(relay.url);
    let times = 0;
    const work = store.together(async (calls) => {
      times += 1;
      await calls.startAttempt(ATTEMPT);
      relay.cutAfterCommit();
    });
    await expect(work).rejects.toMatchObject({ code: 'StoreUnavailable' });
    expect(times).toBe(1);
    expect(await store.listAttempts('t', 'r1', 'e1')).toHaveLength(1);
    await store.close();
    await relay.close();
  });

  test('a stream that begins while old ones are removed keeps its time, and the count of its characters', async () => {
    const { store, place } = await newStore();
    const opening = (runId: string, at: number) => ({
      tenant: 't',
      runId,
      call: 1,
      attempt: 1,
      messageId: `${runId}:m1`,
      eventsBefore: 0,
      keepMs: 1,
      at,
    });
    await store.openStream(opening('old', 0));
    const [{ removable_at: first }] = (await rawRows(
      place,
      'select removable_at from streams',
    )) as [{ readonly removable_at: string }];
    const at = Number(first) + 1;
    const again = new Client({ connectionString: place });
    await again.connect();
    try {
      await again.query('begin');
      await again.query(
        `update streams set fence = fence + 1, chars = 7, removable_at = ${at + 1}`,
      );
      const other = store.openStream(opening('other', at));
      const waits = `select 1 from pg_stat_activity
        where datname = current_database() and wait_event_type = 'Lock'`;
      while ((await rawRows(place, waits)).length === 0) await sleep(10);
      await again.query('commit');
      await other;
    } finally {
      await again.end();
    }
    const kept = await rawRows(
      place,
      `select chars, removable_at from streams where run_id = 'old'`,
    );
    expect(kept).toEqual([{ chars: '7', removable_at: String(at + 1) }]);
  });

  test('a store has no more connections than it may, however many ask', async () => {
    const url = await newPostgresUrl();
    const store = await openStore({ url, connectionsMax: 2 });
    const runs = Array.from({ length: 30 }, (_, index) => `r${index}`);
    let most = 0;
    await Promise.all(
      runs.map(async (runId) => {
        await store.appendEvents(
          { tenant: 't', runId, execution: 'e' },
          eventsFrom(0, warnings(3)),
        );
        most = Math.max(most, await connectionsOf(url));
      }),
    );
    expect(await store.listRuns('t', { limit: 100 })).toHaveLength(30);
    expect(most).toBeGreaterThan(0);
    expect(most).toBeLessThanOrEqual(2);
    await store.close();
  });
});

onPostgres('readers in other processes', () => {
  afterAll(cleanUp);

  const RUN = { tenant: 't', runId: 'r1' };
  const SOURCE = { ...RUN, execution: 'e' };
  /** Longer than any test: only a notification ends such a wait. */
  const LONG_MS = 600_000;

  /** Another name for the same database, as another process would have it. */
  async function twoProcesses() {
    const place = await newPostgresUrl();
    const { store: writer } = await newStore(place);
    const elsewhere = `${place}-reader`;
    const { store: reader } = await newStore(elsewhere);
    return { writer, reader, elsewhere };
  }

  /** Of a reader that does not listen yet: each call waits until it has begun to, once more. */
  function begunBy({ live }: Store): () => Promise<void> {
    // Whoever waits for pieces is woken then.
    const watch = live.watch({ ...RUN, runId: 'nobody' });
    return () => watch.wait(LONG_MS);
  }

  test('are woken by events, once they are committed, and not by those of other runs', async () => {
    const { writer, reader } = await twoProcesses();
    const begun = begunBy(reader);
    const watch = reader.watchEvents(RUN);
    await begun();
    let woken = false;
    const waited = watch.wait(LONG_MS).then(() => (woken = true));
    await writer.appendEvents({ ...SOURCE, runId: 'other' }, eventsFrom(0, warnings(1)));
    await writer.together(async (calls) => {
      await calls.appendEvents(SOURCE, eventsFrom(0, warnings(1)));
      await new Promise((resolve) => setTimeout(resolve, 100));
      expect(woken).toBe(false);
    });
    await waited;
    expect((await reader.readEvents(RUN, { sinceSeq: 0, limit: 9 })).events).toHaveLength(1);
    watch.stop();
  });

  test('are woken again after the connection that listens was lost', async () => {
    const { writer, reader, elsewhere } = await twoProcesses();
    const begun = begunBy(reader);
    const watch = reader.watchEvents(RUN);
    await begun();
    await loseConnections(elsewhere);
    await begun();
    const waited = watch.wait(LONG_MS);
    await writer.appendEvents(SOURCE, eventsFrom(0, warnings(1)));
    await waited;
    watch.stop();
  });

  test('are woken by pieces of what a model says', async () => {
    const { writer, reader } = await twoProcesses();
    const watch = reader.live.watch(RUN);
    await watch.wait(LONG_MS);
    const attempt = { call: 1, attempt: 1, messageId: 'm' };
    const opened = await writer.openStream({
      ...RUN,
      ...attempt,
      eventsBefore: 0,
      keepMs: 1,
      at: 1,
    });
    const delta = { type: 'text', block: 0, text: 'hello' } as const;
    writer.live.send({ ...opened[0]!, first: 1, entries: [{ kind: 'delta', delta }] }, 5);
    await watch.wait(LONG_MS);
    const { batches } = await reader.readStream(RUN, { fence: 1, index: 1 });
    expect(batches.flatMap(({ entries }) => entries)).toEqual([{ kind: 'delta', delta }]);
    watch.stop();
  });

  test('what nobody of ours has sent wakes nobody and breaks nothing', async () => {
    const { writer, reader, elsewhere } = await twoProcesses();
    const begun = begunBy(reader);
    const watch = reader.watchEvents(RUN);
    await begun();
    const channel = `'holdfast_' || md5(current_schema())`;
    for (const payload of [
      '',
      'null',
      '[]',
      '["events"]',
      '["events", 1, {}]',
      'x'.repeat(7_000),
    ]) {
      await rawRows(elsewhere, `select pg_notify(${channel}, '${payload}')`);
    }
    const waited = watch.wait(LONG_MS);
    await writer.appendEvents(SOURCE, eventsFrom(0, warnings(1)));
    await waited;
    watch.stop();
  });

  test('a store that is closed stops listening', async () => {
    const { reader, elsewhere } = await twoProcesses();
    const begun = begunBy(reader);
    const watch = reader.watchEvents(RUN);
    await begun();
    expect(await connectionsOf(elsewhere)).toBeGreaterThan(0);
    await reader.close();
    // Whoever went on would connect anew by then.
    await sleep(500);
    await eventually(async () => expect(await connectionsOf(elsewhere)).toBe(0));
    watch.stop();
  });
});

onPostgres('a database that cannot be used', () => {
  afterAll(cleanUp);

  test.each<[string, (url: URL) => void, RegExp]>([
    [
      'a server that is not there',
      (url) => (url.port = '9'),
      /Check that the database server runs/,
    ],
    ['a wrong password', (url) => (url.password = 'hunter2'), /Correct user and password/],
    ['an unknown user', (url) => (url.username = 'nobody-known'), /Correct user and password/],
    ['an unknown database', (url) => (url.pathname = '/elsewhere'), /Create the database/],
  ])('%s is a typed error with its remedy, and without the secret', async (_, spoil, hint) => {
    const url = new URL(await newPostgresUrl());
    spoil(url);
    const error: unknown = await openStoreAt(url.href).catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ code: 'StoreUnavailable', hint: expect.stringMatching(hint) });
    expect(inspect(error, { depth: 9, showHidden: true })).not.toContain(url.password);
  });

  test('an address that cannot be read is refused without being quoted', async () => {
    const secret = 'hunter2';
    for (const url of [
      `postgres://me:${secret}/@host/db`,
      `postgres://me:12/${secret}@host/db`,
      `postgres://[${secret}/db`,
      `postgres://me:${secret}@host`,
    ]) {
      const error: unknown = await openStoreAt(url).catch((thrown: unknown) => thrown);
      expect(error).toMatchObject({ code: 'InvalidConfig', hint: expect.stringContaining('://') });
      expect(inspect(error, { depth: 9, showHidden: true })).not.toContain(secret);
    }
  });

  test('a healthy one is shown without its password', async () => {
    const { store, place } = await newStore(await newPostgresUrl());
    const { password, host, pathname } = new URL(place);
    const health = await store.health();
    expect(health.place).toBe(`postgres://holdfast@${host}${pathname}`);
    expect(JSON.stringify(health)).not.toContain(password);
  });

  test('a database that goes away and comes back is used again', async () => {
    const { store, place } = await newStore(await newPostgresUrl());
    const ref = await store.putBlob('t', 'kept');
    await loseConnections(place);
    expect(await eventually(() => store.getBlob('t', ref.$blob))).toBe('kept');
  });

  test('a closed store says that it is closed', async () => {
    const { store } = await newStore(await newPostgresUrl());
    await store.close();
    await store.close();
    await expect(store.putBlob('t', 'x')).rejects.toMatchObject({ code: 'StoreUnavailable' });
  });
});

const ATTEMPT = {
  tenant: 't',
  runId: 'r1',
  effectId: 'e1',
  kind: 'tool',
  boundCostMicroUsd: 0,
  boundInputTokens: 0,
  boundOutputTokens: 0,
  startedAt: 1,
} as const;

async function until(what: () => boolean): Promise<void> {
  for (let waited = 0; waited < 1000 && !what(); waited += 1) {
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}

/** A pool may find its connections dead once or twice before it makes new ones. */
async function eventually<T>(what: () => Promise<T>): Promise<T> {
  for (let attempt = 0; attempt < 20; attempt += 1) {
    try {
      return await what();
    } catch {
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  }
  return what();
}

/** Those of one store: its schema is in no other's address. */
function ofStore(place: string): string {
  return `application_name = '${applicationOf(place)}' and pid <> pg_backend_pid()`;
}

async function loseConnections(place: string): Promise<void> {
  await rawRows(
    adminOf(place),
    `select pg_terminate_backend(pid) from pg_stat_activity where ${ofStore(place)}`,
  );
}

async function connectionsOf(place: string): Promise<number> {
  const rows = await rawRows(
    adminOf(place),
    `select 1 from pg_stat_activity where ${ofStore(place)}`,
  );
  return rows.length;
}

function applicationOf(place: string): string {
  return new URL(place).searchParams.get('application_name') ?? 'holdfast';
}

function adminOf(place: string): string {
  const url = new URL(place);
  url.search = '';
  return url.href;
}

interface Relay {
  readonly url: string;
  /** The next commit reaches the server, its answer reaches nobody. */
  cutAfterCommit(): void;
  close(): Promise<void>;
}

async function cuttingRelay(target: URL): Promise<Relay> {
  let isArmed = false;
  const server: Server = createServer((near) => {
    const far = connect(Number(target.port), target.hostname);
    let isCut = false;
    near.on('data', (data) => {
      isCut ||= isArmed && data.includes('commit');
      far.write(data);
    });
    far.on('data', (data) => {
      if (isCut) {
        isArmed = false;
        near.destroy();
      } else near.write(data);
    });
    for (const side of [near, far]) {
      side.on('error', () => undefined);
      side.on('close', () => [near, far].forEach((end) => void end.destroy()));
    }
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = new URL(target);
  url.port = String((server.address() as AddressInfo).port);
  return {
    url: url.href,
    cutAfterCommit: () => void (isArmed = true),
    close: () => new Promise((resolve) => server.close(() => resolve())),
  };
}
