/** The command: which files it takes, what it says, how it exits. */
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { runEvaluation, type Evaluation } from '../../cli/commands/eval.js';
import { createOutput } from '../../cli/terminal/output.js';
import { runCli } from '../../cli/program.js';
import type { CaseRun, Engine } from '../../evaluation/engine.js';
import type { Fixture } from '../../evaluation/fixture.js';
import { compiledPath } from '../compiled.js';
import { observationWith } from './setup.js';

let folder: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'holdfast-eval-'));
});

afterEach(() => {
  rmSync(folder, { recursive: true, force: true });
});

function write(name: string, content: object | string): void {
  const file = join(folder, name);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, typeof content === 'string' ? content : JSON.stringify(content));
}

function good(case_id: string, changes: object = {}): object {
  return { case_id, expected: { stop_reason: 'completed' }, ...changes };
}

interface Ran {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

async function speaking(
  work: (streams: { out: (text: string) => void; err: (text: string) => void }) => Promise<number>,
): Promise<Ran> {
  let out = '';
  let err = '';
  const code = await work({
    out: (text) => {
      out += text;
    },
    err: (text) => {
      err += text;
    },
  });
  return { code, out, err };
}

/** The whole command line. */
function holdfast(...argv: readonly string[]): Promise<Ran> {
  const environment = { variables: {}, folder, colour: false, interactive: false };
  return speaking((streams) => runCli(argv, { environment, streams }));
}

const SEEN: CaseRun = { kind: 'observed', observed: observationWith() };

/** The command with an engine that answers as told. */
function evaluated(
  answer: (fixture: Fixture) => CaseRun,
  changes: Partial<Evaluation> = {},
): Promise<Ran & { readonly stopped: boolean }> {
  let stopped = false;
  const engine: Engine = {
    name: 'simulation',
    concurrency: 2,
    run: async (fixture) => answer(fixture),
    stop: async () => {
      stopped = true;
    },
  };
  const evaluation = { paths: ['.'], engine: 'simulation', seed: 7, folder, ...changes } as const;
  return speaking((streams) =>
    runEvaluation(evaluation, createOutput(streams, { json: false, colour: false }), async () => [
      engine,
    ]),
  ).then((ran) => ({ ...ran, stopped }));
}

describe('files that cannot be used: nothing runs', () => {
  test('an unknown key names file and key', async () => {
    write('cases/a.json', good('a', { modle: [] }));
    const { code, err } = await holdfast('eval', 'cases');
    expect(code).toBe(1);
    expect(err).toContain('cases/a.json: modle: unknown key');
  });

  test('every bad file is named, also deep below', async () => {
    write('cases/a.json', good('a', { expected: {} }));
    write('cases/deep/er/b.json', '{"case_id": ');
    write('cases/good.json', good('g'));
    const { code, out, err } = await holdfast('eval', 'cases');
    expect(code).toBe(1);
    expect(out).toBe('');
    expect(err).toContain('cases/a.json: expected: expects nothing');
    expect(err).toMatch(/cases\/deep\/er\/b\.json: line 1, column 1\d: expected a value/);
  });

  test('two cases of one id name both files', async () => {
    write('a.json', good('same'));
    write('b.json', good('same'));
    const { code, err } = await holdfast('eval', '.');
    expect(code).toBe(1);
    expect(err).toContain('b.json: case_id: "same" is that of a.json as well');
  });

  test.each([
    ['a path that is not there', 'none', 'none does not exist'],
    ['a folder without cases', 'empty', 'There is no *.json in empty'],
  ])('%s', async (_, path, words) => {
    mkdirSync(join(folder, 'empty'));
    const { code, err } = await holdfast('eval', path);
    expect(code).toBe(2);
    expect(err).toContain(words);
  });

  test('what the configuration of their agent lacks comes with what mends the configuration', async () => {
    write(
      'holdfast.config.cjs',
      `const { z } = require('${require.resolve('zod/v3')}');
       const { defineTool } = require('${compiledPath(join(__dirname, '../../index.ts'))}');
       defineTool({ name: 'pay', version: '1', effect: 'read', input: z.object({}), run: () => 'x' });`,
    );
    for (const id of ['a', 'b']) write(`cases/${id}.json`, good(id, { agent: 'shop' }));
    for (const path of ['cases', 'cases/a.json']) {
      const { code, err } = await holdfast('eval', path);
      expect(code).toBe(1);
      expect(err).toMatch(/cases\/a\.json: config: .* tool pay [^]*\nUse zod 4/);
    }
  });

  test('a bad file is refused even when the filter leaves it out', async () => {
    write('a.json', good('a'));
    write('b.json', good('b', { extra: 1 }));
    expect((await holdfast('eval', '.', '--filter', 'a')).code).toBe(1);
  });

  test('what a hostile file writes into its keys does not reach the terminal', async () => {
    write('a.json', good('a', { '\u001b[31mred\u202e': 1 }));
    const { err } = await holdfast('eval', '.');
    for (const unseen of ['\u001b', '\u202e']) expect(err).not.toContain(unseen);
  });
});

describe('a command line that is wrong exits with 2', () => {
  test.each([
    ['no path', []],
    ['an unknown engine', ['.', '--engine', 'real']],
    ['a seed that is no number', ['.', '--seed', 'x']],
    ['--json without a file', ['.', '--json']],
    ['no cache where there is none', ['.', '--no-workflow-cache']],
    ['a server that skips time for the simulation', ['.', '--time-skipping']],
  ])('%s', async (_, argv) => {
    const { code, out, err } = await holdfast('eval', ...argv);
    expect(code).toBe(2);
    expect(out).toBe('');
    expect(err).not.toBe('');
  });
});

describe('the outcome', () => {
  test('is 0 when everything that ran has passed', async () => {
    write('b.json', good('second'));
    write('a.json', good('first', { title: 'The first' }));
    const { code, out, stopped } = await evaluated(() => SEEN);
    expect(code).toBe(0);
    expect(stopped).toBe(true);
    expect(out.split('\n').slice(0, 2)).toEqual([
      expect.stringMatching(/^passed +first +simulation, 5 ms +The first$/),
      expect.stringMatching(/^passed +second /),
    ]);
    expect(out).toContain('2 passed, 0 failed, 0 skipped');
    expect(out).toContain('completion rate       100 %');
  });

  test('is 1 when one has failed: its first difference, and how to repeat it', async () => {
    write('my cases/a.json', good('a', { expected: { answer: 'No.', stop_reason: 'failed' } }));
    write('b.json', good('b'));
    const { code, out } = await evaluated(() => SEEN);
    expect(code).toBe(1);
    expect(out).toContain('  stop_reason and 1 more\n');
    expect(out).toContain('    expected  failed\n');
    expect(out).toContain('    observed  completed (final_answer)\n');
    expect(out).toContain(
      "    again     holdfast eval 'my cases/a.json' --engine simulation --seed 7\n",
    );
    expect(out).toContain('1 passed, 1 failed, 0 skipped');
  });

  test('without a workflow cache is repeated without one', async () => {
    write('a.json', good('a', { expected: { answer: 'No.' } }));
    const { out } = await evaluated(() => SEEN, { engine: 'both', withoutCache: true });
    expect(out).toContain('holdfast eval a.json --engine both --seed 7 --no-workflow-cache\n');
  });

  test('on a server that skips time is repeated on one', async () => {
    write('a.json', good('a', { expected: { answer: 'No.' } }));
    const { out } = await evaluated(() => SEEN, { engine: 'both', timeSkipping: './server' });
    expect(out).toContain('holdfast eval a.json --engine both --seed 7 --time-skipping ./server\n');
  });

  test('is 1 when everything was skipped: nothing has been shown', async () => {
    write('a.json', good('a'));
    const skipped = evaluated(() => ({ kind: 'skipped', why: 'needs virtual time' }));
    await expect(skipped).rejects.toMatchObject({
      message: expect.stringContaining('Nothing ran'),
    });
  });

  test('is 0 when some were skipped and the others passed', async () => {
    write('a.json', good('a'));
    write('b.json', good('b'));
    const { code, out } = await evaluated(({ caseId }) =>
      caseId === 'a' ? { kind: 'skipped', why: 'no seam' } : SEEN,
    );
    expect(code).toBe(0);
    expect(out).toMatch(/^skipped +a +simulation, skipped: no seam$/m);
  });

  test('is an error when the filter leaves nothing', async () => {
    write('a.json', good('a'));
    const { code, err } = await holdfast('eval', '.', '--filter', 'zzz');
    expect(code).toBe(1);
    expect(err).toContain('Nothing ran. No case has "zzz" in its id or title.');
  });

  test('the filter looks at id and title', async () => {
    write('a.json', good('refund-1'));
    write('b.json', good('b', { title: 'a refund' }));
    write('c.json', good('c'));
    const { out } = await evaluated(() => SEEN, { filter: 'refund' });
    expect(out).toContain('2 passed');
  });

  test('one file counts once, however often it is named', async () => {
    write('cases/a.json', good('a'));
    symlinkSync(join(folder, 'cases', 'a.json'), join(folder, 'link.json'));
    const { out } = await evaluated(() => SEEN, { paths: ['cases', 'cases/a.json', 'link.json'] });
    expect(out).toContain('1 passed');
  });

  test('a failure stops no other case, and the engine in the end', async () => {
    write('a.json', good('a'));
    write('b.json', good('b'));
    const { code, out, stopped } = await evaluated(({ caseId }) => {
      if (caseId === 'a') throw new Error('oh no');
      return SEEN;
    });
    expect([code, stopped]).toEqual([1, true]);
    expect(out).toContain('observed  oh no');
    expect(out).toContain('1 passed, 1 failed');
  });
});

test('--json writes summary, metrics and cases', async () => {
  write('a.json', good('a', { expected: { persisted: 3 } }));
  await evaluated(() => SEEN, { json: 'report.json', paths: ['a.json'] });
  const report = JSON.parse(readFileSync(join(folder, 'report.json'), 'utf8')) as object;
  expect(report).toEqual({
    summary: {
      passed: 0,
      failed: 1,
      skipped: 0,
      completion_rate: 1,
      correct_stop_reason: null,
      invalid_action_rate: 0,
      repeated_action_rate: 0,
      escalation_accuracy: null,
      token_and_tool_cost: {
        usage: { in: 2_000, out: 200, cacheR: 10, cacheW: 5 },
        cost_micro_usd: 9_000,
        tool_calls: 1,
        tool_attempts: 1,
      },
      latency_ms: { median: 5, p95: 5, max: 5 },
      replay_success: null,
    },
    cases: [
      {
        case_id: 'a',
        engine: 'simulation',
        outcome: 'failed',
        differences: [{ path: 'persisted', expected: 3, observed: 0 }],
        result: expect.objectContaining({ stopReason: 'completed' }),
      },
    ],
  });
});

test('no bundle is written over another, which is said before a case is played', async () => {
  write('a.json', good('A'));
  write('bundles/A.json', 'kept');
  const words = ['eval', 'a.json', '--engine', 'temporal', '--bundles', 'bundles'];
  const { code, err } = await holdfast(...words);
  expect([code, err]).toEqual([2, expect.stringMatching(/A\.json is kept/)]);
  expect(readFileSync(join(folder, 'bundles/A.json'), 'utf8')).toBe('kept');
});

test('a report that cannot be written is said before a case is played', async () => {
  write('a.json', good('a'));
  mkdirSync(join(folder, 'is-a-folder'));
  const { code, out, err } = await holdfast('eval', 'a.json', '--json', 'is-a-folder');
  expect([code, out]).toEqual([2, '']);
  expect(err).toContain('this is a folder');
  let played = 0;
  const counted = (): CaseRun => {
    played += 1;
    return SEEN;
  };
  await expect(evaluated(counted, { json: 'none/report.json' })).rejects.toThrow('none/report');
  expect(played).toBe(0);
});

test('a report that cannot be written is an error', async () => {
  write('a.json', good('a'));
  await expect(evaluated(() => SEEN, { json: 'none/report.json' })).rejects.toMatchObject({
    message: expect.stringContaining('none/report.json'),
  });
});

test('Ctrl-C ends in order: no report, exit code 130, the engine stopped', async () => {
  for (let index = 0; index < 30; index += 1) write(`c${index}.json`, good(`c${index}`));
  const { code, err, stopped } = await evaluated(
    () => {
      process.emit('SIGINT');
      return SEEN;
    },
    { json: 'report.json' },
  );
  expect(code).toBe(130);
  expect(stopped).toBe(true);
  expect(err).toContain('Interrupted');
  expect(() => readFileSync(join(folder, 'report.json'))).toThrow('ENOENT');
});
