/** `holdfast capture` as people type it, on bundles in files. */
import { existsSync, mkdtempSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { FixtureDocument } from '../../../evaluation/format/document.js';
import { runCli } from '../../../cli/program.js';
import { compiledPath } from '../../compiled.js';
import { bundleText } from '../../../replay/bundle.js';
import { redactBundle } from '../../../replay/redaction/redact-bundle.js';
import { parseRules } from '../../../replay/redaction/rules.js';
import { keptGoals } from './kept-goals.js';
import { recordedRun, textOfRecorded } from './recorded-runs.js';

const REPLACED = 'G81-replaced-by-another-tool';

let folder: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'capture-'));
  writeFileSync(join(folder, 'run.json'), textOfRecorded(REPLACED));
});

async function holdfast(words: readonly string[], variables: Record<string, string> = {}) {
  let out = '';
  let err = '';
  const code = await runCli(words, {
    environment: { variables, folder, colour: false, interactive: false },
    streams: { out: (text) => void (out += text), err: (text) => void (err += text) },
  });
  return { code, out, err };
}

interface StartedEvent {
  readonly workflowExecutionStartedEventAttributes: {
    readonly input: { readonly payloads: readonly [{ data: string }] };
  };
}

function written(name: string): FixtureDocument {
  return JSON.parse(readFileSync(join(folder, name), 'utf8')) as FixtureDocument;
}

test('a bundle becomes a case beside it, for its owner alone, and never over another file', async () => {
  expect(await holdfast(['capture', 'run.json'])).toMatchObject({ code: 0 });
  const name = `${REPLACED}.case.json`;
  expect(statSync(join(folder, name)).mode & 0o777).toBe(0o600);
  expect(await holdfast(['eval', name])).toMatchObject({ code: 0 });
  const again = await holdfast(['capture', 'run.json']);
  expect(again).toMatchObject({ code: 2, err: expect.stringContaining('exists, and is kept') });
});

test('the folder of a case is made; a file in its place is an error, and no wrong command line', async () => {
  const words = ['capture', 'run.json', '-o'];
  expect(await holdfast([...words, 'test/cases/one.json'])).toMatchObject({ code: 0 });
  expect(await holdfast(['eval', 'test/cases'])).toMatchObject({ code: 0 });
  const inFile = await holdfast([...words, 'run.json/one.json']);
  expect(inFile).toMatchObject({ code: 1, err: expect.stringContaining('cannot be written') });
});

test('a case that expects something else fails until the code does it', async () => {
  const spoken = await holdfast([
    'capture',
    'run.json',
    '-o',
    'bug.json',
    '--expect',
    'stop_reason=needs_human',
    '--expect',
    'effects.write_note=0',
    '--json',
  ]);
  expect(spoken.code).toBe(0);
  expect(JSON.parse(spoken.out)).toMatchObject({ passes: false });
  expect(written('bug.json').expected).toEqual({
    stop_reason: 'needs_human',
    effects: { write_note: 0 },
  });
  expect(await holdfast(['eval', 'bug.json'])).toMatchObject({ code: 1 });
});

test('a case that fails says what a mended run needs beyond its record; one that passes does not', async () => {
  const words = ['capture', 'run.json', '--expect', 'effects.refund=1'];
  const told = await holdfast([...words, '--json', '-o', 'a.json']);
  // `send_email` was never handed over, and of `write_note` the answer is recorded.
  const needs = ['tools.send_email.results', 'tools.refund.results', 'during', 'model'];
  expect(JSON.parse(told.out)).toMatchObject({ passes: false, needs });
  const spoken = await holdfast([...words, '-o', 'b.json']);
  expect(spoken.out).toContain(needs.map((key) => `\`${key}\``).join(', '));
  const passing = await holdfast(['capture', 'run.json', '-o', 'c.json', '--json']);
  expect(JSON.parse(passing.out)).not.toHaveProperty('needs');
});

test('a tool that nobody has is named, because no code can break what is expected of it', async () => {
  const words = ['capture', 'run.json', '--expect'];
  const slip = await holdfast([...words, 'effects.send_emial=0', '-o', 'slip.json']);
  expect([slip.code, slip.err]).toEqual([
    0,
    expect.stringMatching(/The record has no tool send_emial: .*Did you mean send_email\?/),
  ]);
  const dotted = await holdfast([...words, 'effects.email.send=0', '-o', 'dotted.json']);
  expect(dotted.err).toContain('The record has no tool email.send:');
  const right = await holdfast([...words, 'effects.send_email=0', '-o', 'right.json']);
  expect([right.code, right.err]).toEqual([0, '']);
});

test('a tool that the configuration alone has is one of the case', async () => {
  writeFileSync(
    join(folder, 'holdfast.config.cjs'),
    `const { z } = require('${require.resolve('zod')}');
     const { defineAgent, defineConfig, defineTool } = require('${compiledPath(join(__dirname, '../../../index.ts'))}');
     const pay = defineTool({ name: 'pay', version: '1', description: 'Pays.', effect: 'write', idempotency: 'keyed', input: z.object({}), run: () => 'x' });
     module.exports = defineConfig({ agents: [defineAgent({
       name: 'case', version: '1', model: 'scripted/x', instructions: 'Handle the case.', tools: [pay] })] });`,
  );
  const words = ['capture', 'run.json', '--config', 'holdfast.config.cjs', '--expect'];
  const right = await holdfast([...words, 'effects.pay=0', '-o', 'right.json']);
  expect([right.code, right.err]).toEqual([0, '']);
  const slip = await holdfast([...words, 'effects.pai=0', '-o', 'slip.json']);
  expect(slip.err).toContain('Record and --config have no tool pai');
});

function writeTeam(settings = '{}'): void {
  writeFileSync(
    join(folder, 'team.config.cjs'),
    `const { defineAgent, defineConfig } = require('${compiledPath(join(__dirname, '../../../index.ts'))}');
     const of = (name, more) => defineAgent({ name, version: '1', model: 'scripted/x', instructions: 'Handle the case.', ...more });
     module.exports = defineConfig({ agents: [of('billing', {}), of('case', {
       settings: ${settings},
       agents: { r: { description: 'Reviews.', prompt: 'Review it.' } }, handoffTo: [{ agent: 'billing', run: 'new' }] })] });`,
  );
}

test.each(['agents-unknown', 'handoffs-only-named-agents'])(
  'sub-agents and agents that take over are those of the configuration, where the run started none: %s',
  async (name) => {
    writeTeam();
    writeFileSync(join(folder, 'run.json'), textOfRecorded(name));
    const words = ['capture', 'run.json', '--config', 'team.config.cjs', '-o', 'team.json'];
    const { code, out, err } = await holdfast([...words, '--json']);
    expect([code, err, JSON.parse(out)]).toMatchObject([0, '', { passes: true, differences: [] }]);
    expect(written('team.json')).toMatchObject({ agent: 'case', config: 'team.config.cjs' });
    expect(await holdfast(['eval', 'team.json'])).toMatchObject({ code: 0 });
  },
);

test('patience with workers, of which a case knows nothing, is no obstacle to a case of a configuration', async () => {
  writeTeam();
  const bundle = recordedRun('agents-unknown');
  const [started] = bundle.segments[0]!.events as unknown as [StartedEvent];
  const [payload] = started.workflowExecutionStartedEventAttributes.input.payloads;
  const start = JSON.parse(Buffer.from(payload.data, 'base64').toString()) as object;
  const settings = {
    unservedTimeoutMs: 600_000,
    heartbeatMs: { repeatable: 5_000, single: 5_000 },
  };
  payload.data = Buffer.from(JSON.stringify({ ...start, settings })).toString('base64');
  writeFileSync(join(folder, 'run.json'), bundleText(bundle));
  const words = ['capture', 'run.json', '--config', 'team.config.cjs', '-o', 'patient.json'];
  expect(await holdfast(words)).toMatchObject({ code: 0, err: '' });
  expect(written('patient.json')).not.toHaveProperty('settings.unservedTimeoutMs');
});

test('a run that was handed over is no case about one agent of a configuration, and is told so', async () => {
  writeTeam();
  writeFileSync(join(folder, 'run.json'), textOfRecorded('G66-start-narrows-both'));
  const words = ['capture', 'run.json', '-o', 'handed.json'];
  const { code, err } = await holdfast([...words, '--config', 'team.config.cjs']);
  expect([code, err]).toEqual([1, expect.stringContaining('it was handed over to billing')]);
  expect(existsSync(join(folder, 'handed.json'))).toBe(false);
  expect(await holdfast(words)).toMatchObject({ code: 0 });
});

test('a case is not written under the name of a packed file', async () => {
  const { code, err } = await holdfast(['capture', 'run.json', '-o', 'case.json.gz']);
  expect([code, err]).toEqual([2, expect.stringContaining('not packed')]);
  expect(existsSync(join(folder, 'case.json.gz'))).toBe(false);
});

test('a key that cases do not know is refused before anything is written', async () => {
  const { code, err } = await holdfast(['capture', 'run.json', '--expect', 'stopped=yes']);
  expect([code, err]).toEqual([2, expect.stringContaining('stopped: unknown key')]);
  expect(existsSync(join(folder, `${REPLACED}.case.json`))).toBe(false);
});

test('a tool that is asked what was never recorded refuses, and says so', async () => {
  await holdfast(['capture', 'run.json', '-o', 'case.json']);
  const { expected: _, ...document } = written('case.json');
  const other = {
    ...document,
    during: [
      { ...document.during?.[0], do: [{ resolveApproval: { decision: 'approve', by: 'x' } }] },
    ],
    expected: {
      results: { m: { status: 'error', code: 'execution_error', contains: 'not_recorded' } },
    },
  };
  writeFileSync(join(folder, 'other.json'), JSON.stringify(other));
  expect(await holdfast(['eval', 'other.json'])).toMatchObject({ code: 0 });
});

test('--until takes over what had happened by then', async () => {
  await holdfast(['capture', 'run.json', '--until', '3', '-o', 'begun.json']);
  expect(written('begun.json')).toMatchObject({ captured: { until: 3 }, model: [{}] });
  expect(await holdfast(['eval', 'begun.json'])).toMatchObject({ code: 0 });
  // The whole run is another case.
  await holdfast(['capture', 'run.json', '-o', 'whole.json']);
  const both = await holdfast(['eval', 'begun.json', 'whole.json']);
  expect(both).toMatchObject({ code: 0, out: expect.stringContaining(`${REPLACED}-until-3`) });
  const { code, err } = await holdfast(['capture', 'run.json', '--until', '999', '-o', 'no.json']);
  expect([code, err]).toEqual([1, expect.stringContaining('There is no step 999')]);
});

test('no secret leaves: neither what --redact hides nor the value of a variable', async () => {
  writeFileSync(
    join(folder, 'rules.json'),
    JSON.stringify({ rules: [{ name: 'goal', key: 'goal' }] }),
  );
  await holdfast(['capture', 'run.json', '-o', 'hidden.json', '--redact', 'rules.json']);
  expect(readFileSync(join(folder, 'hidden.json'), 'utf8')).not.toContain('Handle the case.');
  expect(await holdfast(['eval', 'hidden.json'])).toMatchObject({ code: 0 });
  const refused = await holdfast(['capture', 'run.json', '-o', 'leak.json'], {
    SHOP_API_KEY: 'Handle the case',
  });
  expect(refused).toMatchObject({ code: 1, err: expect.stringContaining('SHOP_API_KEY') });
  expect(refused.err).not.toContain('Handle the case');
  expect(existsSync(join(folder, 'leak.json'))).toBe(false);
});

test('the refusal of a redacted bundle does not tell the text that this release makes anew', async () => {
  const hidden = 'The tool did not answer within 200 ms.';
  const rules = parseRules(
    { rules: [{ name: 'limit', regex: hidden.replaceAll('.', '\\.') }] },
    'rules.json',
  );
  const bundle = await redactBundle(recordedRun('C47-failure-hook-for-a-timeout'), rules);
  writeFileSync(join(folder, 'late.json'), bundleText(bundle));
  const { code, err } = await holdfast(['capture', 'late.json', '-o', 'late.case.json']);
  expect([code, err]).toEqual([1, expect.stringContaining('played another value')]);
  expect(err).not.toContain(hidden);
  expect(err).toContain('Capture with rules that hide other texts');
});

/** A kept goal as it was before its only cycle had ended, or some events later. */
function goalInItsCycle(later = 0): string {
  const { bundle } = keptGoals().goals.find(({ name }) => name === '12/goal-rules-proven')!;
  const end = bundle.events.findIndex(({ type }) => type === 'cycle_ended');
  const [segment] = bundle.segments;
  const closed = segment!.events.findIndex(({ eventType }) =>
    `${eventType}`.includes('CHILD_WORKFLOW_EXECUTION_COMPLETED'),
  );
  expect([end, closed].every((place) => place > 0)).toBe(true);
  return bundleText({
    ...bundle,
    events: bundle.events.slice(0, end + later),
    segments: [{ ...segment!, events: segment!.events.slice(0, closed + later) }],
  });
}

test('a goal whose cycle has not ended is refused by the number of that cycle', async () => {
  writeFileSync(join(folder, 'goal.json'), goalInItsCycle());
  const { code, err } = await holdfast(['capture', 'goal.json']);
  expect(err).toContain('The goal cannot be made into a case: its cycle 1 has not ended.');
  expect(code).toBe(1);
});

test('a goal that is between two cycles is refused because it has no result', async () => {
  writeFileSync(join(folder, 'goal.json'), goalInItsCycle(1));
  const { code, err } = await holdfast(['capture', 'goal.json']);
  expect(err).toMatch(/The goal cannot be made into a case: it has no result\.[^]*--until STEP/);
  expect(code).toBe(1);
});

test('code that streams plays the case of a run that did not', async () => {
  writeTeam('{ includePartialMessages: true }');
  writeFileSync(join(folder, 'run.json'), textOfRecorded('agents-unknown'));
  const words = ['capture', 'run.json', '--config', 'team.config.cjs', '-o', 'team.json', '--json'];
  const { code, out, err } = await holdfast(words);
  expect([code, err, JSON.parse(out)]).toMatchObject([0, '', { passes: true, differences: [] }]);
});
