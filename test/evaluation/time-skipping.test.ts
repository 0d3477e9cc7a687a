/** Cases on Temporal's test server, whose time can be moved. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { TIME_SKIPPING_VARIABLE, onPath } from '../../devserver/index.js';
import { collectFixtures } from '../../evaluation/collect.js';
import { openEngines } from '../../evaluation/engines.js';
import { evaluate } from '../../evaluation/evaluate.js';
import { skipOf } from '../../evaluation/temporal/skip.js';
import { startTimeSkippingServer } from '../../testing/time-skipping-server.js';
import { expecting } from './setup.js';

let folder: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'holdfast-time-'));
});

afterEach(() => {
  rmSync(folder, { recursive: true, force: true });
});

describe('the program of the server', () => {
  test('that is not there is named in the error, with the option', async () => {
    const executable = join(folder, 'absent');
    await expect(startTimeSkippingServer({ environment: {}, executable })).rejects.toMatchObject({
      code: 'ServerUnavailable',
      message: `--time-skipping names ${executable}, which is no program that can be run.`,
    });
  });

  test('that is a folder was meant as a path of cases', async () => {
    await expect(
      startTimeSkippingServer({ environment: {}, executable: folder }),
    ).rejects.toMatchObject({
      code: 'ServerUnavailable',
      hint: expect.stringContaining('behind the paths of the cases'),
    });
  });

  test('of the variable that is not there is named in the error, with the variable', async () => {
    const environment = { [TIME_SKIPPING_VARIABLE]: join(folder, 'absent') };
    await expect(startTimeSkippingServer({ environment })).rejects.toMatchObject({
      message: expect.stringContaining(`${TIME_SKIPPING_VARIABLE} names `),
    });
  });

  test('that ends at once is told with what it said', async () => {
    const executable = join(folder, 'server');
    writeFileSync(executable, '#!/bin/sh\necho no Java here\nexit 1\n', { mode: 0o755 });
    await expect(
      startTimeSkippingServer({ environment: process.env, executable }),
    ).rejects.toMatchObject({
      code: 'ServerUnavailable',
      message: expect.stringMatching(/it ended\..*no Java here/),
    });
  });
});

describe('moving time by a case', () => {
  const during = (event: string) => [{ on: { event }, do: { advance: '1h' } }];

  test('needs a server whose time can be moved', () => {
    const fixture = expecting(
      { stop_reason: 'completed' },
      { during: during('approval_requested') },
    );
    expect(skipOf(fixture)).toBe('needs virtual time');
    expect(skipOf(fixture, { movesTime: true })).toBeUndefined();
  });

  test('is impossible while a worker works', () => {
    const fixture = expecting({ stop_reason: 'completed' }, { during: during('tool_started') });
    expect(skipOf(fixture, { movesTime: true })).toBe('needs virtual time');
  });
});

describe('a tool that is in doubt or gives no answer', () => {
  const tool = (effect: 'read' | 'none' | 'write', timeoutMs: number, result: object) => ({
    tools: { slow: { effect, timeoutMs, results: [result] } },
  });
  const recorded = (effect: 'write', result: object) => ({
    tools: { slow: { effect, timeoutMs: 600_000, recorded: [{ input: {}, results: [result] }] } },
  });
  const SHORT = { budget: { timeoutMs: 1_000 } };
  const throws = { throws: 'The worker of the call was lost.' };

  test.each([
    ['an effect in doubt for ten minutes', 'needs virtual time', tool('write', 600_000, throws)],
    ['no answer for ten minutes', 'needs virtual time', tool('read', 600_000, { timeout: true })],
    ['no answer at all', 'needs virtual time', tool('read', 600_000, { hang: true })],
    ['a recorded effect in doubt', 'needs virtual time', recorded('write', throws)],
    ['what changes nothing, and fails', undefined, tool('none', 600_000, throws)],
    [
      'a run whose time ends before',
      undefined,
      { ...tool('read', 600_000, { hang: true }), ...SHORT },
    ],
    ['an effect in doubt for a second', undefined, tool('write', 1_000, throws)],
    ['a read that fails', undefined, tool('read', 600_000, throws)],
  ])('%s: %s', (_what, why, more) => {
    expect(skipOf(expecting({ stop_reason: 'completed' }, more))).toBe(why);
  });
});

const program =
  process.env[TIME_SKIPPING_VARIABLE] ?? onPath(process.env, 'temporal-test-server')[0];
const testOnServer = program === undefined ? test.skip : test;
const why =
  program === undefined
    ? ` (skipped: ${TIME_SKIPPING_VARIABLE} names no server, docs/guide/cases.md)`
    : '';

testOnServer(
  `a goal that sleeps between its cycles is played without waiting${why}`,
  async () => {
    const fixtures = await collectFixtures({
      paths: ['test/scenarios/goals/S172.json'],
      folder: '.',
    });
    const engines = await openEngines('both', { environment: process.env, timeSkipping: {} });
    try {
      const outcomes = [];
      for await (const one of evaluate(fixtures, { engines, seed: 1 })) outcomes.push(one);
      expect(outcomes.map(({ outcome, differences }) => ({ outcome, differences }))).toEqual([
        { outcome: 'passed', differences: [] },
        { outcome: 'passed', differences: [] },
      ]);
    } finally {
      await Promise.all(engines.map((engine) => engine.stop()));
    }
  },
  120_000,
);
