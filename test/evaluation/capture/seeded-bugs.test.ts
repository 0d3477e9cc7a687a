/**
 * A failure becomes a test: each seeded bug is met by a run on a real server, found by `holdfast inspect`, kept by
 * `holdfast capture --expect`, which fails, and passes once the line is mended. Cases of before still pass.
 */
import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { runCli } from '../../../cli/program.js';
import type { Report } from '../../../evaluation/report.js';
import { compiledPath } from '../../compiled.js';
import { SEEDED_BUGS, shopConfig, type SeededBug } from './seeded-bugs.js';

const MAIN = compiledPath(join(__dirname, '..', '..', '..', 'cli', 'main.ts'));
const PACKAGE = dirname(dirname(MAIN));
const MINUTE = 60_000;

const folder = mkdtempSync(join(tmpdir(), 'seeded-bugs-'));

interface Spoken {
  readonly code: number;
  readonly out: string;
}

function holdfast(...words: readonly string[]): Promise<Spoken> {
  return new Promise((resolve) => {
    execFile(process.execPath, [MAIN, ...words], { cwd: folder }, (error, out, err) => {
      const code = error === null ? 0 : Number(error.code);
      resolve({ code, out: `${out}${err}` });
    });
  });
}

/** In this process: what is loaded here of a configuration stays as it is. */
async function here(...words: readonly string[]): Promise<Spoken> {
  let out = '';
  const hear = (text: string): void => void (out += text);
  const code = await runCli(words, {
    environment: { variables: {}, folder, colour: false, interactive: false },
    streams: { out: hear, err: hear },
  });
  return { code, out };
}

function write(name: string, content: string | object): void {
  const file = join(folder, name);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, typeof content === 'string' ? content : JSON.stringify(content));
}

function configOf({ name }: SeededBug): string {
  return join('configs', `${name}.cjs`);
}

async function played(...words: readonly string[]): Promise<Report & Spoken> {
  const spoken = await holdfast('eval', ...words, '--json', 'report.json');
  if (process.env.SHOW) console.log(spoken.out);
  const report = JSON.parse(readFileSync(join(folder, 'report.json'), 'utf8')) as Report;
  return { ...report, ...spoken };
}

beforeAll(async () => {
  for (const bug of SEEDED_BUGS) {
    write(configOf(bug), shopConfig(PACKAGE, bug.wrong));
    write(`met/${bug.name}.json`, {
      case_id: bug.name,
      agent: 'shop',
      config: join('..', configOf(bug)),
      tools: 'live',
      model: bug.model,
      expected: { events: [{ event: 'session_init' }] },
    });
  }
  const met = await played('met', '--engine', 'temporal', '--bundles', 'bundles');
  expect(met.summary).toMatchObject({ passed: SEEDED_BUGS.length, failed: 0 });
}, 2 * MINUTE);

test(
  'each failure is inspected, captured, fails, is mended and passes',
  async () => {
    mkdirSync(join(folder, 'cases'), { recursive: true });
    for (const bug of SEEDED_BUGS) {
      const { name, expect: expected, isOfTool } = bug;
      const [bundle, kept] = [join('bundles', `${name}.json`), join('cases', `${name}.json`)];
      const inspected = await here('inspect', bundle, '--at', 'last');
      expect(inspected).toMatchObject({ code: 0, out: expect.stringContaining('Status') });
      const words = ['--config', configOf(bug), '--agent', 'shop', '--expect', expected];
      const captured = await here('capture', bundle, '-o', kept, ...words);
      expect([name, captured.out]).toEqual([
        name,
        expect.stringContaining('fails in the simulation'),
      ]);
      if (isOfTool !== true) continue;
      const document = JSON.parse(readFileSync(join(folder, kept), 'utf8')) as object;
      write(kept, { ...document, tools: 'live' });
    }
    const failing = await played('cases');
    expect(failing.summary).toMatchObject({ passed: 0, failed: SEEDED_BUGS.length });
    // A failed case says how the run ended, and by which rule.
    expect(failing.cases.every(({ why_ended: why }) => why?.rule !== undefined)).toBe(true);
    // What went well before goes on to.
    await here('capture', join('bundles', 'prompt-forgets-a-rule.json'), '-o', 'before.json');
    for (const bug of SEEDED_BUGS) write(configOf(bug), shopConfig(PACKAGE, bug.right));
    const mended = await played('cases');
    const left = mended.cases.filter(({ outcome }) => outcome !== 'passed');
    expect(left.map((one) => [one.case_id, one.differences[0]])).toEqual([]);
    expect(await here('eval', 'before.json')).toMatchObject({ code: 0 });
  },
  3 * MINUTE,
);
