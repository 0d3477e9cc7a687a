import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, readdirSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { dirname, join } from 'node:path';
import { cachedCli } from '../../devserver/cli-cache.js';
import { findServer, type FindServerOptions, type Progress } from '../../devserver/index.js';
import { freePort } from '../../devserver/ports.js';
import { runScript } from './child-script.js';
import {
  GOOD_VERSION,
  fakeGo,
  fakeTemporal,
  script,
  temporaryFolder,
  toolsFolder,
} from './fakes.js';

/** Nothing is allowed to come from outside; PATH is one folder. */
function offline(folder: string): FindServerOptions & { readonly bin: string } {
  const bin = join(folder, 'bin');
  mkdirSync(bin, { recursive: true });
  return {
    bin,
    environment: { PATH: bin },
    cacheDir: join(folder, 'cache'),
    allowDownload: false,
    allowBuild: false,
  };
}

describe('finding a server', () => {
  it('takes the configured address when something answers there', async () => {
    const server = createServer().listen(0, '127.0.0.1');
    await new Promise((resolve) => server.once('listening', resolve));
    const address = `127.0.0.1:${(server.address() as AddressInfo).port}`;
    const options = offline(temporaryFolder());
    fakeTemporal(options.bin);
    const found = await findServer({ ...options, address });
    server.close();
    expect(found).toEqual({ kind: 'address', address });
  });

  it('refuses a configured address where nothing answers, instead of starting another server', async () => {
    const options = offline(temporaryFolder());
    fakeTemporal(options.bin);
    await expect(findServer({ ...options, address: '127.0.0.1:1' })).rejects.toMatchObject({
      code: 'ServerUnavailable',
      message: expect.stringContaining('127.0.0.1:1'),
    });
  });

  it('prefers the configured binary to PATH, and PATH to the cache', async () => {
    const folder = temporaryFolder();
    const options = offline(folder);
    const configured = fakeTemporal(join(folder, 'own'));
    const onPath = fakeTemporal(options.bin);
    const cached = fakeTemporal(dirname(cachedCli(join(folder, 'cache'))));

    expect(await findServer({ ...options, binary: configured })).toMatchObject({
      path: configured,
      source: 'configured',
    });
    expect(await findServer(options)).toMatchObject({ path: onPath, source: 'path' });
    expect(await findServer({ ...options, environment: { PATH: folder } })).toMatchObject({
      path: cached,
      source: 'cache',
      versions: { cli: '1.8.2', server: '1.31.2' },
    });
  });

  it.each([
    ['temporal version 1.7.3 (Server 1.31.2, UI 2.50.1)', 'CLI 1.7.3, older than 1.8.0'],
    ['temporal version 1.8.0 (Server 1.30.9, UI 2.50.1)', 'server 1.30.9, older than 1.31.0'],
    ['some other temporal', 'does not print a Temporal version'],
  ])('passes over a binary on PATH that says "%s"', async (version, reason) => {
    const folder = temporaryFolder();
    const options = offline(folder);
    fakeTemporal(options.bin, version);
    fakeTemporal(dirname(cachedCli(join(folder, 'cache'))));
    expect(await findServer(options)).toMatchObject({ source: 'cache' });
    await expect(findServer({ ...options, cacheDir: join(folder, 'empty') })).rejects.toMatchObject(
      { message: expect.stringContaining(reason) },
    );
  });

  it('refuses a configured binary that is too old and names the remedy', async () => {
    const options = offline(temporaryFolder());
    const binary = fakeTemporal(options.bin, 'temporal version 1.5.1 (Server 1.29.1, UI 2.40.0)');
    await expect(findServer({ ...options, binary })).rejects.toMatchObject({
      code: 'ServerUnavailable',
      message: expect.stringContaining('CLI 1.5.1, older than 1.8.0'),
      hint: expect.stringContaining('1.8.0 or newer'),
    });
  });

  it('names every route it tried and every way out when all fail', async () => {
    const folder = temporaryFolder();
    const options = offline(folder);
    script(options.bin, 'go', 'echo "go.mod requires go >= 1.26.8" >&2; exit 1');
    const failure = findServer({
      ...options,
      allowDownload: true,
      allowBuild: true,
      releasesUrl: `http://127.0.0.1:${await freePort()}`,
      settingNames: { address: 'TEMPORAL_ADDRESS', binary: '--temporal-binary' },
    });
    await expect(failure).rejects.toMatchObject({ code: 'ServerUnavailable' });
    const { message, hint } = (await failure.catch((error: unknown) => error)) as {
      message: string;
      hint: string;
    };
    expect(message).toContain('path: no `temporal` on PATH');
    expect(message).toMatch(/download: http:\/\/127\S* cannot be reached: .*ECONNREFUSED/);
    expect(message).toContain('build: go build failed');
    expect(message).toContain('go.mod requires go >= 1.26.8');
    for (const way of ['TEMPORAL_ADDRESS', '--temporal-binary', 'PATH', 'downloads', 'Go 1.26.8']) {
      expect(hint).toContain(way);
    }
    expect(readdirSync(dirname(cachedCli(join(folder, 'cache'))))).toEqual(['filling.lock']);
  });
});

describe('filling the cache', () => {
  it('downloads the release archive, unpacks it and keeps the binary', async () => {
    const folder = temporaryFolder();
    const options = offline(folder);
    toolsFolder(options.bin, ['tar', 'gzip']);
    fakeTemporal(join(folder, 'release'));
    const archive = join(folder, 'release.tar.gz');
    execFileSync('tar', ['-czf', archive, '-C', join(folder, 'release'), 'temporal']);
    const asked: string[] = [];
    const server = createServer((request, response) => {
      asked.push(request.url ?? '');
      response.end(readFileSync(archive));
    }).listen(0, '127.0.0.1');
    await new Promise((resolve) => server.once('listening', resolve));
    const releasesUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;

    const found = await findServer({ ...options, allowDownload: true, releasesUrl });
    expect(found).toMatchObject({ source: 'download', path: cachedCli(join(folder, 'cache')) });
    expect(asked).toEqual([
      expect.stringMatching(/^\/v1\.8\.2\/temporal_cli_1\.8\.2_\w+_\w+\.tar\.gz$/),
    ]);
    expect(await findServer({ ...options, allowDownload: true, releasesUrl })).toMatchObject({
      source: 'cache',
    });
    server.close();
  });

  it('builds with Go from the pinned sums and reports progress', async () => {
    const folder = temporaryFolder();
    const options = offline(folder);
    const builds = join(folder, 'builds');
    fakeGo(options.bin, builds);
    const seen: Progress[] = [];
    const found = await findServer({
      ...options,
      allowBuild: true,
      onProgress: (progress) => seen.push(progress),
    });
    expect(found).toMatchObject({ source: 'build', versions: { server: '1.31.2' } });
    expect(seen[0]).toMatchObject({ step: 'build', elapsedMs: 0 });
    expect(readFileSync(builds, 'utf8')).toMatch(/^0 -mod=readonly build .*Version=1\.8\.2/);
  });

  it('builds once when two processes ask at the same time', async () => {
    const folder = temporaryFolder();
    const { bin, ...options } = offline(folder);
    const builds = join(folder, 'builds');
    const toldIn = join(folder, 'told');
    // The one builds until the other waits for it.
    fakeGo(bin, builds, { file: toldIn, words: 'Another process is fetching or building' });
    const runs = [1, 2].map(() => runScript('find', { ...options, allowBuild: true, toldIn }));
    const results = await Promise.all(runs.map(({ line }) => line));
    expect(readFileSync(builds, 'utf8').trim().split('\n')).toHaveLength(1);
    const sources = results.map(({ found }) => (found as { source: string }).source);
    expect(sources.sort()).toEqual(['build', 'cache']);
    expect(readFileSync(toldIn, 'utf8')).toMatch(
      /Another process is fetching or building Temporal/,
    );
  });

  it('replaces a cached binary that does not run', async () => {
    const folder = temporaryFolder();
    const options = offline(folder);
    const cached = cachedCli(join(folder, 'cache'));
    script(dirname(cached), 'temporal', 'exit 1');
    fakeGo(options.bin, join(folder, 'builds'));
    expect(await findServer({ ...options, allowBuild: true })).toMatchObject({ source: 'build' });
    expect(execFileSync(cached, ['--version'], { encoding: 'utf8' })).toContain(GOOD_VERSION);
    expect(existsSync(join(folder, 'builds'))).toBe(true);
  });
});

describe('a download without internet', () => {
  it('is given up when no answer comes', async () => {
    const options = offline(temporaryFolder());
    const silent = createServer(() => {
      // Takes the request and never answers.
    }).listen(0, '127.0.0.1');
    await new Promise((resolve) => silent.once('listening', resolve));
    const releasesUrl = `http://127.0.0.1:${(silent.address() as AddressInfo).port}`;
    const startedAt = performance.now();
    await expect(
      findServer({ ...options, allowDownload: true, releasesUrl }),
    ).rejects.toMatchObject({ message: expect.stringContaining('no answer from') });
    // The download itself may take five minutes.
    expect(performance.now() - startedAt).toBeLessThan(60_000);
    silent.closeAllConnections();
    silent.close();
  });
});
