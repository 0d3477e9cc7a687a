/** Commands on a store in PostgreSQL: they find it by its address, and nobody reads the password off them. */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { runCli } from '../../cli/program.js';
import { newPostgresUrl, postgresBinaries } from '../postgres-server.js';

const onPostgres = postgresBinaries() === undefined ? describe.skip : describe;

onPostgres('a store in PostgreSQL', () => {
  let folder: string;
  let url: string;
  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'holdfast-cli-postgres-'));
    url = await newPostgresUrl();
  });
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  async function holdfast(place: string, ...argv: readonly string[]) {
    let said = '';
    const take = (text: string): void => void (said += text);
    const code = await runCli([...argv], {
      environment: {
        // A port where nothing listens: the store must be looked at all the same.
        variables: { HOLDFAST_STORE: place, HOLDFAST_ADDRESS: '127.0.0.1:9' },
        folder,
        colour: false,
        interactive: false,
      },
      streams: { out: take, err: take },
    });
    return { code, said };
  }

  test('that hears of changes is closed before its process ends, also one with nothing else to do', async () => {
    const script = `
      const { openStoreAt } = require(${JSON.stringify(join(process.cwd(), '.compiled', 'store', 'store.js'))});
      (async () => {
        const store = await openStoreAt(${JSON.stringify(url)});
        const reader = store.watchEvents({ tenant: 'default', runId: 'r1' });
        const alive = setInterval(() => undefined, 1_000);
        await reader.wait(1_000);
        clearInterval(alive);
        reader.stop();
        await store.close();
        process.exit(7);
      })();`;
    const { status, stderr } = spawnSync(process.execPath, ['-e', script], { encoding: 'utf8' });
    expect([status, stderr]).toEqual([7, '']);
  });

  test('is found and judged by doctor', async () => {
    const { said } = await holdfast(url, 'doctor');
    expect(said).toMatch(/postgres:\/\/holdfast@127\.0\.0\.1:\d+\/\w+, schema \d+/);
    expect(said).not.toContain(new URL(url).password);
  });

  test('that this role may only read is no sound store to doctor, which leaves nothing in it', async () => {
    const { Client } = await import('pg');
    const owner = new Client({ connectionString: url });
    await owner.connect();
    const reader = new URL(url);
    [reader.username, reader.password] = [`reader_${process.pid}`, 'reads'];
    try {
      await owner.query(`create role ${reader.username} login password '${reader.password}'`);
      await owner.query(`grant usage on schema holdfast to ${reader.username}`);
      await owner.query(`grant select on all tables in schema holdfast to ${reader.username}`);
      const { code, said } = await holdfast(reader.href, 'doctor', '--json');
      expect(code).toBe(1);
      const { checks } = JSON.parse(said) as { readonly checks: readonly object[] };
      expect(checks).toContainEqual({
        name: 'store',
        status: 'broken',
        found: expect.stringMatching(
          /schema \d+.*: it can be read, and not written: .*permission denied/,
        ) as unknown,
        mend: 'Give this role the right to create and write tables in the database.',
      });
      await holdfast(url, 'doctor');
      expect((await owner.query('select * from blobs')).rows).toEqual([]);
    } finally {
      await owner.query(`drop owned by ${reader.username}; drop role ${reader.username}`);
      await owner.end();
    }
  });

  test('is read by commands', async () => {
    const { code, said } = await holdfast(url, 'sessions', '--json');
    expect({ code, said: said.trim() }).toEqual({ code: 0, said: '{"sessions":[]}' });
  });

  test.each(['doctor', 'sessions'])(
    'that cannot be used is told by %s without its password',
    async (command) => {
      for (const password of ['not-the-password', 'not/escaped@all']) {
        const wrong = url.replace(new URL(url).password, password);
        const { code, said } = await holdfast(wrong, command);
        expect(code).toBe(1);
        expect(said).toMatch(/Correct user and password|special characters in the password/);
        expect(said).not.toContain('not-the-password');
        expect(said).not.toContain('escaped');
      }
    },
  );
});
