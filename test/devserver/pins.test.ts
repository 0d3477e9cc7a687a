import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  CLI_VERSION,
  NAMESPACE_RETENTION,
  SEARCH_ATTRIBUTES,
  SERVER_VERSION,
  cacheFolder,
  tuningFlags,
  tuningYaml,
} from '../../devserver/index.js';
import { GO_VERSION_MIN } from '../../devserver/pins.js';
import { isAtLeast, parseVersions } from '../../devserver/versions.js';

const ROOT = join(__dirname, '..', '..');

function text(...path: readonly string[]): string {
  return readFileSync(join(ROOT, ...path), 'utf8');
}

describe('the tuning table', () => {
  it('is what the checked-in dynamic configuration of the cluster says', () => {
    expect(text('devserver', 'dynamic-config.yaml')).toBe(tuningYaml());
  });

  it('gives the embedded server its values as JSON', () => {
    const values = tuningFlags().filter((flag) => flag !== '--dynamic-config-value');
    expect(values).toContain('history.timerProcessorMaxTimeShift="10ms"');
    expect(values).toContain('history.transferProcessorMaxPollRPS=2000');
    expect(values).toContain('frontend.enableServerVersionCheck=false');
    for (const value of values) {
      expect(() => JSON.parse(value.slice(value.indexOf('=') + 1)) as unknown).not.toThrow();
    }
  });
});

describe('the pins', () => {
  it('are the same in go.mod', () => {
    const goMod = text('devserver', 'go.mod');
    expect(goMod).toContain(`github.com/temporalio/cli v${CLI_VERSION} `);
    expect(goMod).toContain(`go.temporal.io/server v${SERVER_VERSION} `);
    expect(goMod).toContain(`\ngo ${GO_VERSION_MIN}\n`);
  });

  it('are the same in docker-compose.temporal.yml, which opens loopback ports only', () => {
    const compose = text('docker-compose.temporal.yml');
    expect(compose).toContain('./devserver/dynamic-config.yaml:');
    expect(compose).toContain(`--retention ${NAMESPACE_RETENTION}`);
    for (const [name, type] of Object.entries(SEARCH_ATTRIBUTES)) {
      expect(compose).toContain(`--name ${name} --type ${type}`);
    }
    const minor = SERVER_VERSION.split('.').slice(0, 2).join('.');
    const images = [...compose.matchAll(/image: (\S+)/g)].map((match) => match[1]);
    expect(images).toHaveLength(6);
    for (const image of images) expect(image).toMatch(/:\d+\.\d+/);
    expect(compose).toContain(`temporalio/server:${minor}.`);
    const ports = [...compose.matchAll(/- '(\S+:\d+:\d+)'/g)].map((match) => match[1]);
    expect(ports).toEqual(['127.0.0.1:5433:5432', '127.0.0.1:7233:7233', '127.0.0.1:8080:8080']);
  });
});

describe('versions', () => {
  it('are read from what the CLI prints', () => {
    expect(parseVersions('temporal version 1.8.2 (Server 1.31.2, UI 2.50.1)\n')).toEqual({
      cli: '1.8.2',
      server: '1.31.2',
    });
    expect(parseVersions('temporal 1')).toBeUndefined();
  });

  it.each([
    ['1.8.0', '1.8.0', true],
    ['1.10.0', '1.8.2', true],
    ['1.31.2-152.5', '1.31.0', true],
    ['2.0', '1.31.0', true],
    ['1.7.9', '1.8.0', false],
    ['1', '1.8.0', false],
  ])('%s against at least %s is %s', (version, minimum, expected) => {
    expect(isAtLeast(version, minimum)).toBe(expected);
  });
});

describe('the cache folder', () => {
  const linux = { platform: 'linux', arch: 'x64' } as const;

  it('follows the setting, then XDG, then the platform', () => {
    const home = { HOME: '/home/a' };
    const xdg = { ...home, XDG_CACHE_HOME: '/xdg' };
    expect(cacheFolder({ ...xdg, HOLDFAST_CACHE_DIR: '/own' }, linux)).toBe('/own');
    expect(cacheFolder(xdg, linux)).toBe('/xdg/holdfast');
    expect(cacheFolder(home, linux)).toBe('/home/a/.cache/holdfast');
    expect(cacheFolder(home, { ...linux, platform: 'darwin' })).toBe(
      '/home/a/Library/Caches/holdfast',
    );
  });
});
