import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readEnvironment } from '../../worker/config.js';
import { findConfig } from '../../worker/load-config.js';
import { providersOf } from '../../worker/providers.js';

describe('readEnvironment', () => {
  test('an empty environment gives a local worker', () => {
    expect(readEnvironment({}, '/project')).toEqual({
      address: 'localhost:7233',
      namespace: 'default',
      named: {},
      taskQueue: 'holdfast',
      home: '/project/.holdfast',
      storePlace: '/project/.holdfast/store.db',
      anthropic: {},
      openai: {},
      litellm: {},
      secret: expect.any(Function),
      reach: expect.any(Function),
    });
  });

  test('local state lies beside the configuration, in whatever folder of the project one is', () => {
    const project = mkdtempSync(join(tmpdir(), 'holdfast-project-'));
    try {
      writeFileSync(join(project, 'holdfast.config.ts'), '');
      const inside = join(project, 'src', 'tools');
      mkdirSync(inside, { recursive: true });
      const home = join(project, '.holdfast');
      expect(readEnvironment({}, inside)).toMatchObject({
        home,
        storePlace: join(home, 'store.db'),
      });
      expect(findConfig(inside)).toBe(join(project, 'holdfast.config.ts'));
      expect(readEnvironment({ HOLDFAST_HOME: 'state' }, inside).home).toBe(join(inside, 'state'));
      const elsewhere = { HOLDFAST_CONFIG: '../other/my.config.ts' };
      expect(readEnvironment(elsewhere, project).home).toBe(
        join(project, '..', 'other', '.holdfast'),
      );
    } finally {
      rmSync(project, { recursive: true });
    }
  });

  test('every variable counts, and paths start at the folder', () => {
    const read = readEnvironment(
      {
        HOLDFAST_ADDRESS: 'temporal.example:7233',
        HOLDFAST_NAMESPACE: 'prod',
        HOLDFAST_TASK_QUEUE: 'agents',
        HOLDFAST_HOME: 'state',
        HOLDFAST_STORE: '/data/store.db',
        HOLDFAST_STORE_SYNC: 'shared',
        HOLDFAST_CONFIG: 'my.config.ts',
        HOLDFAST_STACK_TRACES: 'true',
        HOLDFAST_PROBE_ADDRESS: '[::1]:8081',
        HOLDFAST_METRICS_ADDRESS: '127.0.0.1:9464',
        ANTHROPIC_API_KEY: 'key',
        ANTHROPIC_BASE_URL: 'http://localhost:1',
      },
      '/project',
    );
    expect(read).toEqual({
      openai: {},
      litellm: {},
      secret: expect.any(Function),
      reach: expect.any(Function),
      address: 'temporal.example:7233',
      namespace: 'prod',
      named: { address: 'temporal.example:7233', namespace: 'prod' },
      taskQueue: 'agents',
      home: '/project/state',
      storePlace: '/data/store.db',
      storeSync: 'shared',
      configFile: '/project/my.config.ts',
      stackTraces: true,
      probeAddress: '[::1]:8081',
      metricsAddress: '127.0.0.1:9464',
      anthropic: { apiKey: 'key', baseUrl: 'http://localhost:1' },
    });
  });

  test('a store in a database keeps its address as it is', () => {
    const address = 'postgres://me:secret@db.example:5432/holdfast?sslmode=verify-full';
    expect(readEnvironment({ HOLDFAST_STORE: address }, '/p').storePlace).toBe(address);
  });

  test.each(['foo://x', 'mysql://me:secret@db/x', 'postgress://db/x'])(
    'a store at %s is no file and is refused, without its password',
    (address) => {
      expect(() => readEnvironment({ HOLDFAST_STORE: address }, '/p')).toThrow(
        expect.objectContaining({
          code: 'InvalidConfig',
          message: expect.not.stringContaining('secret'),
          hint: expect.stringContaining('postgres://'),
        }),
      );
    },
  );

  test.each([
    ['HOLDFAST_ADDRESS', 'localhost'],
    ['HOLDFAST_ADDRESS', 'http://localhost:7233'],
    ['HOLDFAST_NAMESPACE', ' '],
    ['HOLDFAST_STORE', ''],
    ['HOLDFAST_STORE_SYNC', 'never'],
    ['HOLDFAST_STACK_TRACES', 'yes'],
    ['HOLDFAST_PROBE_ADDRESS', 'localhost:8081'],
    ['HOLDFAST_PROBE_ADDRESS', '::1:8081'],
    ['HOLDFAST_METRICS_ADDRESS', '127.0.0.1'],
    ['HOLDFAST_METRICS_ADDRESS', '127.0.0.1:0'],
    ['HOLDFAST_METRICS_ADDRESS', '300.0.0.1:9464'],
    ['ANTHROPIC_BASE_URL', 'localhost'],
  ])('%s=%j is refused by name', (name, value) => {
    expect(() => readEnvironment({ [name]: value }, '/project')).toThrow(
      expect.objectContaining({ code: 'InvalidConfig', message: expect.stringContaining(name) }),
    );
  });

  test('an IPv6 address is one', () => {
    expect(readEnvironment({ HOLDFAST_ADDRESS: '[::1]:7233' }, '/p').address).toBe('[::1]:7233');
  });

  test('each vendor that it names is reached, and every endpoint whose key is there', () => {
    const endpoints = [
      { name: 'acme', protocol: 'chat', baseUrl: 'https://acme.test/v1', keyVariable: 'ACME_KEY' },
      { name: 'absent', protocol: 'messages', baseUrl: 'https://b.test', keyVariable: 'NO_KEY' },
      { name: 'local', protocol: 'responses', baseUrl: 'http://localhost:1/v1' },
    ] as const;
    const variables = {
      OPENAI_API_KEY: 'k',
      LITELLM_BASE_URL: 'http://localhost:4000/v1',
      ACME_KEY: 'a',
    };
    const providers = providersOf(readEnvironment(variables, '/p'), { endpoints });
    const names = ['openai', 'openai-responses', 'litellm', 'acme', 'local'];
    expect([...providers.keys()]).toEqual(names);
    for (const [name, provider] of providers) expect(provider.name).toBe(name);
  });

  test('without a key there is no provider, and nothing fails yet', () => {
    expect(providersOf(readEnvironment({}, '/p')).size).toBe(0);
    expect([...providersOf(readEnvironment({ ANTHROPIC_API_KEY: 'k' }, '/p')).keys()]).toEqual([
      'anthropic',
    ]);
  });
});
