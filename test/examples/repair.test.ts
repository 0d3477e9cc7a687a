/** The repair: its goal believes its own checks, and what is repaired cannot reach them. */
import {
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  lintRepository,
  testRepository,
  type Judging,
} from '../../examples/repair/judge-repository.js';
import { applyPatch, patchOf, sha256 } from '../../examples/repair/patch.js';
import { repairOf } from '../../examples/repair/repair.js';
import { findSandbox, withoutSandbox } from '../../examples/repair/sandbox.js';
import { repairScript } from '../../examples/repair/script.js';
import { makeWorkshop, type Workshop } from '../../examples/repair/workshop.js';
import { createAnthropicProvider, simulateGoal, startScriptedModel } from '../../testing/index.js';
import { whereIsolated } from '../sandbox/where-isolated.js';
import { endExample, startExample, type StartedExample } from './started-example.js';

const { signal } = new AbortController();

describe('the example', () => {
  let folder: string;
  let example: StartedExample | undefined;

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'holdfast-example-'));
  });
  afterEach(async () => {
    if (example !== undefined) await endExample(example);
    example = undefined;
    rmSync(folder, { recursive: true, force: true, maxRetries: 10, retryDelay: 200 });
  });

  function repositories(): readonly string[] {
    return readdirSync(folder).filter((name) => name.startsWith('holdfast-repair-'));
  }

  test('repairs the repository, and believes neither a claim nor an edited test before', async () => {
    example = startExample('repair', { folder, args: ['--without-sandbox'] });
    expect(await example.exit()).toBe(0);
    const [baseline, claim, edit, ...repairs] = example.output().split(/^Cycle \d+.*$/m);
    expect(baseline).toMatch(/Sandbox +NONE[^]*believes +tests: 6/);
    expect(claim).toMatch(/claims +done[^]*believes +tests: 6[^]*no progress/);
    expect(edit).toMatch(/patch_file .*amount\.test\.mjs[^]*claims +done[^]*believes +tests: 6/);
    expect(repairs.join('')).toMatch(/believes +tests: 2[^]*believes +tests: 0[^]*completed/);
    expect(example.output()).toMatch(
      /Spent \$0\.\d+ \(list prices; a scripted model bills nothing\)/,
    );
    expect(repositories()).toEqual([]);
  });

  test('leaves nothing behind when it is interrupted', async () => {
    example = startExample('repair', { folder, args: ['--without-sandbox'] });
    await example.saw(/^Cycle 1/m);
    expect(repositories()).toHaveLength(1);
    example.child.kill('SIGINT');
    expect(await example.exit()).toBe(130);
    expect(repositories()).toEqual([]);
  });

  test('starts nothing without a sandbox, unless it is told to', async () => {
    example = startExample('repair', { folder, environment: { PATH: folder } });
    expect(await example.exit()).toBe(1);
    expect(example.output()).toMatch(/There is no sandbox: .*\. Nothing was started\./);
    expect(example.output()).toMatch(/-- --without-sandbox/);
    expect(readdirSync(folder)).toEqual([]);
  });
});

test('a model that edits tests and rules, and claims to be done, gets nowhere', async () => {
  const workshop = makeWorkshop();
  const model = await startScriptedModel({ script: repairScript({ cheat: true }) });
  try {
    const provider = createAnthropicProvider({ apiKey: 'scripted', baseUrl: model.baseUrl });
    const { goal, config } = repairOf({ workshop, sandbox: withoutSandbox() });
    const { result, events, violations } = await simulateGoal({
      goal,
      config,
      providers: new Map([[provider.name, provider]]),
    });
    expect(readFileSync(join(workshop.repository, 'lint.json'), 'utf8')).toContain('[]');
    const measured = events.flatMap((event) =>
      event.type === 'check_finished' ? [`${event.name} ${event.value}`] : [],
    );
    expect(new Set(measured)).toEqual(new Set(['tests 6', 'lint 3']));
    expect(result).toMatchObject({ stopReason: 'needs_human', detail: 'no_progress' });
    expect(violations).toEqual([]);
  } finally {
    await model.stop();
    workshop.remove();
  }
});

describe('a check', () => {
  let workshop: Workshop;
  let judging: Judging;
  beforeEach(() => {
    workshop = makeWorkshop();
    judging = { workshop, sandbox: withoutSandbox() };
  });
  afterEach(() => workshop.remove());

  function write(path: string, text: string): void {
    writeFileSync(join(workshop.repository, path), text);
  }

  test('takes tests and configuration from the copy, whatever the repository says', async () => {
    for (const path of ['test/amount.test.mjs', 'test/invoice.test.mjs', 'test/ask.mjs']) {
      write(path, '');
    }
    write('lint.json', '{ "rules": [] }');
    write('reporter.mjs', 'export default async function* () {}');
    expect(await testRepository(judging, signal)).toMatchObject({ passed: 3, failed: 6 });
    expect(await lintRepository(judging, signal)).toMatchObject({ findings: 3 });
  });

  test('hears of the code under test only what it answers', async () => {
    const forged = JSON.stringify({ test: 'forged', passed: true });
    const cheat = `import assert from 'node:assert/strict';
assert.deepEqual = assert.equal = () => {};
process.stdout.write(${JSON.stringify(`${forged}\n`)});
export const parseAmount = () => process.exit(0);
export const formatAmount = () => { throw new Error('no'); };
export const total = () => 'whatever you like';
`;
    write('src/amount.mjs', cheat);
    write('src/invoice.mjs', cheat);
    expect(await testRepository(judging, signal)).toMatchObject({ passed: 0, failed: 9 });
  });

  test('looks at no file that a link leads to', async () => {
    rmSync(join(workshop.repository, 'src/amount.mjs'));
    symlinkSync('/etc/hostname', join(workshop.repository, 'src/amount.mjs'));
    expect(await testRepository(judging, signal)).toMatchObject({ failed: 7 });
  });

  whereIsolated('of code that cannot be trusted', () => {
    test('keeps the code under test in its sandbox', async () => {
      const found = findSandbox(process.env);
      if (found.kind !== 'found') throw new Error(found.because);
      const outside = join(workshop.path, 'escaped');
      write(
        'src/invoice.mjs',
        `import { spawn } from 'node:child_process';
import { existsSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
const tried = (act) => { try { act(); return 'done'; } catch (error) { return error.code; } };
const reached = await new Promise((resolve) => connect(80, '192.0.2.1').on('connect', () => resolve('done')).on('error', ({ code }) => resolve(code)));
let children = 0;
for (let n = 0; n < 100; n += 1) { const child = spawn('/bin/sleep', ['9']); child.on('error', () => {}); if (child.pid) children += 1; }
export const total = () => {
  throw new Error(JSON.stringify({
    reached, children: children < 60, home: existsSync('/home'), env: Object.keys(process.env).sort(),
    wrote: [${JSON.stringify(outside)}, '/repository/src/x', '/tmp/x'].map((file) => tried(() => writeFileSync(file, 'x'))),
  }));
};
`,
      );
      const { failures } = await testRepository({ workshop, sandbox: found.sandbox }, signal);
      const { because } = failures.find(({ test: name }) => name === 'prices are added up')!;
      expect(because).toContain('"reached":"ENETUNREACH"');
      expect(because).toContain('"children":true,"home":false,"env":["PATH","PWD"]');
      expect(because).not.toContain('done');
    });
  });
});

describe('a patch', () => {
  let workshop: Workshop;
  beforeEach(() => {
    workshop = makeWorkshop();
  });
  afterEach(() => workshop.remove());

  const path = 'src/amount.mjs';
  const textNow = (): string => readFileSync(join(workshop.repository, path), 'utf8');
  const patchNow = (find: string, replace: string) => ({
    path,
    find,
    replace,
    expectedSha256: sha256(textNow()),
  });

  test('does nothing twice under one key', () => {
    const patch = patchNow('in cents', 'in cents, always');
    const patched = applyPatch(workshop, 'k', patch);
    const after = textNow();
    expect(applyPatch(workshop, 'k', patch)).toEqual(patched);
    expect(textNow()).toBe(after);
    expect(patchOf(workshop, 'k')).toEqual(patched);
    expect(patchOf(workshop, 'other')).toBeNull();
  });

  test('changes only the file that was read', () => {
    const patch = patchNow('in cents', 'in cents, always');
    applyPatch(workshop, 'a', patch);
    expect(() => applyPatch(workshop, 'b', patch)).toThrow('read it again');
    expect(() => applyPatch(workshop, 'c', patchNow('Number', 'Amount'))).toThrow('2 times');
    for (const outside of ['../judges/lint.json', '/etc/hostname', 'src/../lint.json', '.git']) {
      expect(() => applyPatch(workshop, 'd', { ...patch, path: outside })).toThrow('Name a file');
    }
  });

  test.each([
    ['before the file changed', false],
    ['after it', true],
  ])('is made once by whoever died %s', (_, changed) => {
    const patch = patchNow('in cents', 'in cents, always');
    const before = textNow();
    const patched = applyPatch(workshop, 'k', patch);
    const after = textNow();
    const [entry] = readdirSync(workshop.journal);
    writeFileSync(join(workshop.journal, entry!), JSON.stringify({ ...patched, done: false }));
    if (!changed) writeFileSync(join(workshop.repository, path), before);
    expect(patchOf(workshop, 'k')).toEqual(changed ? patched : null);
    expect(applyPatch(workshop, 'k', patch)).toEqual(patched);
    expect(textNow()).toBe(after);
  });
});
