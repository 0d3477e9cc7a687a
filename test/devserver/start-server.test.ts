import { execFileSync } from 'node:child_process';
import { mkdirSync, statSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  findServer,
  leftBehind,
  runningServer,
  startServer,
  type ServerHandle,
  type StartServerOptions,
} from '../../devserver/index.js';
import { identityOf } from '../../devserver/process-identity.js';
import { runScript } from './child-script.js';
import { fakeTemporal, script, temporaryFolder } from './fakes.js';

/** The first run of all may build the server. */
const BUILD_LIMIT_MS = 1_800_000;
const environment = { ...process.env };
const VERSIONS = { cli: '1.8.2', server: '1.31.2' };

async function gone(pid: number, limitMs = 60_000): Promise<boolean> {
  const deadline = performance.now() + limitMs;
  while (performance.now() < deadline) {
    if ((await identityOf(pid)) === undefined) return true;
    await sleep(20);
  }
  return false;
}

describe('an embedded server', () => {
  let options: StartServerOptions;
  let handle: ServerHandle | undefined;

  beforeAll(async () => {
    const found = await findServer({ environment });
    if (found.kind !== 'binary') throw new Error('expected a binary');
    options = { binary: found, environment, port: 0, dataDir: '' };
  }, BUILD_LIMIT_MS);

  beforeEach(() => {
    options = { ...options, dataDir: join(temporaryFolder(), 'data') };
  });

  afterEach(async () => {
    await handle?.kill();
    handle = undefined;
  });

  function operator(...args: readonly string[]): string {
    const address = ['--address', handle?.address ?? '', '--disable-config-env'];
    return execFileSync(options.binary.path, ['operator', ...args, ...address], {
      encoding: 'utf8',
    });
  }

  it('is healthy, keeps runs for 30 days and knows the search attributes', async () => {
    handle = await startServer({ ...options, uiPort: 0 });
    expect(operator('cluster', 'health')).toContain('SERVING');
    expect(operator('namespace', 'describe', '-n', 'default')).toMatch(/RetentionTtl\s+720h/);
    expect(operator('search-attribute', 'list')).toMatch(
      /HoldfastAgent\s+Keyword[^]*HoldfastStatus\s+Keyword[^]*HoldfastTenant\s+Keyword/,
    );
    expect((await fetch(handle.uiUrl ?? '')).status).toBe(200);
    await handle.stop();
    await handle.stop();
    expect(await gone(handle.pid, 100)).toBe(true);
    expect(await runningServer(options.dataDir)).toBeUndefined();
  });

  it('keeps its data through a kill and a restart', async () => {
    handle = await startServer(options);
    operator('namespace', 'create', '-n', 'kept');
    await handle.kill();
    expect(await gone(handle.pid, 100)).toBe(true);
    handle = await startServer(options);
    expect(operator('namespace', 'describe', '-n', 'kept')).toContain('kept');
    expect(handle.databaseFile).toBe(join(options.dataDir, 'temporal-1.31.2.db'));
    // Whoever else uses this machine reads no conversation from them.
    for (const path of [options.dataDir, handle.databaseFile, handle.logFile]) {
      expect(statSync(path).mode & 0o077).toBe(0);
    }
    expect(statSync(handle.databaseFile).isFile()).toBe(true);
  });

  it('is found by others on its data folder, where a second one is refused', async () => {
    handle = await startServer(options);
    expect(await runningServer(options.dataDir)).toMatchObject({
      pid: handle.pid,
      address: handle.address,
      ownerPid: process.pid,
      orphaned: false,
    });
    await expect(startServer(options)).rejects.toMatchObject({
      code: 'DataFolderInUse',
      message: expect.stringContaining(`process ${handle.pid}`),
      hint: expect.stringContaining(handle.address),
    });
    const other = runScript('start', options);
    expect(await other.line).toMatchObject({ code: 'DataFolderInUse' });
  });

  it.each(['SIGINT', 'SIGTERM', 'SIGKILL'] as const)(
    'ends when its owner is ended by %s, and the folder is free again',
    async (signal) => {
      const owner = runScript('start', options);
      const { pid } = (await owner.line) as { pid: number };
      owner.child.kill(signal);
      expect(await owner.exited).toBe(signal);
      if (signal !== 'SIGKILL') expect(await gone(pid)).toBe(true);
      handle = await startServer(options);
      expect(await gone(pid)).toBe(true);
    },
  );

  it('is started again where it ended by itself, as one does whose port another program took', async () => {
    const folder = temporaryFolder();
    const started = join(folder, 'started');
    const path = script(
      folder,
      'temporal',
      `if [ -f '${started}' ]; then exec '${options.binary.path}' "$@"; fi; echo > '${started}'; exit 2`,
    );
    handle = await startServer({ ...options, binary: { ...options.binary, path } });
    expect(handle.pid).toBeGreaterThan(0);
  });

  it('that outlived its owner is called orphaned, and the next start ends it', async () => {
    // Without setpriv on PATH the kernel does not end it.
    const owner = runScript('start', { ...options, environment: { PATH: '' } });
    const { pid } = (await owner.line) as { pid: number };
    owner.child.kill('SIGKILL');
    await owner.exited;
    expect(await runningServer(options.dataDir)).toMatchObject({ pid, orphaned: true });
    handle = await startServer(options);
    expect(await gone(pid, 100)).toBe(true);
    expect(handle.pid).not.toBe(pid);
  });
});

describe('starting a server', () => {
  it('refuses a port that is taken before it starts anything', async () => {
    const folder = temporaryFolder();
    const blocker = createServer().listen(0, '127.0.0.1');
    await new Promise((resolve) => blocker.once('listening', resolve));
    const { port } = blocker.address() as AddressInfo;
    const path = script(folder, 'temporal', `echo started > '${folder}/started'`);
    const binary = { path, versions: VERSIONS };
    const options = { binary, environment, dataDir: join(folder, 'data') };
    const expected = { code: 'PortTaken', hint: expect.stringContaining(String(port)) };
    await expect(startServer({ ...options, port })).rejects.toMatchObject(expected);
    await expect(startServer({ ...options, port: 0, uiPort: port })).rejects.toMatchObject(
      expected,
    );
    expect(() => statSync(join(folder, 'started'))).toThrow('ENOENT');
    blocker.close();
  });

  it('says what a server that ends at once has printed', async () => {
    const folder = temporaryFolder();
    const path = script(folder, 'temporal', 'echo "database is broken" >&2; exit 4');
    const start = startServer({
      binary: { path, versions: VERSIONS },
      environment,
      dataDir: join(folder, 'data'),
      port: 0,
    });
    await expect(start).rejects.toMatchObject({
      code: 'ServerUnavailable',
      message: expect.stringContaining('database is broken'),
      details: { exitCode: 4 },
    });
  });

  it('lists databases of other server versions', async () => {
    const folder = temporaryFolder();
    mkdirSync(folder, { recursive: true });
    fakeTemporal(folder);
    writeFileSync(join(folder, 'temporal-1.30.0.db'), '1234');
    writeFileSync(join(folder, 'temporal-1.30.0.db-wal'), '56');
    writeFileSync(join(folder, 'temporal-1.31.2.db'), '');
    expect(await leftBehind(folder, '1.31.2')).toEqual([
      { file: join(folder, 'temporal-1.30.0.db'), serverVersion: '1.30.0', bytes: 6 },
    ]);
    expect(await leftBehind(join(folder, 'none'), '1.31.2')).toEqual([]);
  });
});
