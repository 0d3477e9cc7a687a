/** `holdfast eval --from`: recorded runs once more, with a model on loopback and the record in place of tools and people. */
import { mkdirSync, mkdtempSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { runCli } from '../../cli/program.js';
import { playPast } from '../../evaluation/past/play.js';
import type { PastReport } from '../../evaluation/past/report.js';
import { scriptOf, type ScriptedAnswer } from '../../providers/scripted/script.js';
import { startScriptedModel, type ScriptedModel } from '../../providers/scripted/server.js';
import { bundleText } from '../../replay/bundle.js';
import { compiledPath } from '../compiled.js';
import { keptGoals } from './capture/kept-goals.js';
import { recordedRun, textOfRecorded } from './capture/recorded-runs.js';

/** A person let another tool act in place of the one that was asked for. */
const REPLACED = 'G81-replaced-by-another-tool';
/** Of an agent with a name and a model of its own; its tool told how far it was. */
const NOTED = 'tool-notes-noted';
const AS_RECORDED = { calls: [{ tool: 'send_email', input: { text: 'x' } }] };

let folder: string;
const models: ScriptedModel[] = [];

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'past-'));
  mkdirSync(join(folder, 'bundles'));
  writeFileSync(join(folder, 'bundles', 'run.json'), textOfRecorded(REPLACED));
});
afterEach(() => Promise.all(models.splice(0).map((model) => model.stop())));

interface Evaluated {
  readonly code: number;
  readonly out: string;
  readonly err: string;
  readonly report: PastReport;
}

/** The model says these replies. */
async function evaluated(
  replies: readonly ScriptedAnswer[],
  ...more: readonly (string | Record<string, string>)[]
): Promise<Evaluated> {
  const model = await startScriptedModel({ script: scriptOf(replies) });
  models.push(model);
  const words = ['eval', '--from', 'bundles', '--model', 'scripted/new', '--json', 'report.json'];
  const options = more.filter((one) => typeof one === 'string');
  const variables = more.filter((one) => typeof one === 'object');
  const said = await holdfast([...words, ...options], {
    ...variables[0],
    ANTHROPIC_API_KEY: 'sk-of-a-test',
    ANTHROPIC_BASE_URL: model.baseUrl,
  });
  const report = JSON.parse(readFileSync(join(folder, 'report.json'), 'utf8')) as PastReport;
  return { ...said, report };
}

async function holdfast(words: readonly string[], variables: Record<string, string> = {}) {
  let out = '';
  let err = '';
  const code = await runCli(words, {
    environment: { variables, folder, colour: false, interactive: false },
    streams: { out: (text) => void (out += text), err: (text) => void (err += text) },
  });
  return { code, out, err };
}

test('a model that does the same has the same end and the same effects, decided by the same people', async () => {
  const { code, report, out } = await evaluated([AS_RECORDED, { text: 'Done.' }]);
  expect(report.runs).toMatchObject([
    {
      kind: 'played',
      run_id: REPLACED,
      same_end: true,
      same_effects: true,
      unmatched: [],
      now: { completed: true, calls: 1 },
    },
  ]);
  expect(report.gate).toMatchObject({ passed: true, violations: [] });
  expect([code, out]).toEqual([0, expect.stringContaining('No regression.')]);
});

test('a goal is told as not played, with the reason', async () => {
  const goal = keptGoals().goals.find(({ name }) => name.endsWith('G-6-cancel-a-cycle'))!;
  writeFileSync(join(folder, 'bundles', 'run.json'), bundleText(goal.bundle));
  const { report, out } = await evaluated([{ text: 'Done.' }]);
  expect(report.runs).toMatchObject([{ kind: 'not_played' }]);
  expect(out).toContain('it is a goal, and runs alone are played on the past');
});

test('a run that has not ended is not played: nobody knows how it ends', async () => {
  const bundle = recordedRun(REPLACED);
  const open = { ...bundle, events: bundle.events.slice(0, -1) };
  await expect(playPast(open, { unmatched: 'stop' })).rejects.toThrow('it has not ended');
});

test('of a run that no case can say, whoever has its bundle is told what checks it', async () => {
  const bundle = recordedRun(REPLACED);
  const limited = { type: 'permission', rule: 'limits', tool: 'send_email' };
  const events = [limited, ...bundle.events] as typeof bundle.events;
  await expect(playPast({ ...bundle, events }, { unmatched: 'stop' })).rejects.toMatchObject({
    message: expect.stringContaining('used up a limit of send_email'),
    hint: expect.stringContaining('`holdfast replay RUN` without --config'),
  });
});

test('the recorded model itself may be asked in earnest', async () => {
  writeFileSync(join(folder, 'bundles', 'run.json'), textOfRecorded(NOTED));
  const { report } = await evaluated([{ text: 'Done.' }], '--model', 'scripted/model');
  expect(report.runs).toMatchObject([{ kind: 'played', run_id: 'noted' }]);
});

test('a question that people were never asked ends the run, is told, and is a regression', async () => {
  const { code, report, out } = await evaluated([
    { calls: [{ tool: 'send_email', input: { text: 'quite another' } }] },
    { text: 'Done.' },
  ]);
  expect(report.runs).toMatchObject([
    {
      same_end: false,
      same_effects: false,
      missing_effects: [{ tool: 'write_note', input: { text: 'y' } }],
      unmatched: [{ kind: 'question', tool: 'send_email', about: 'approval' }],
      now: { stop_reason: 'aborted', completed: false },
    },
  ]);
  expect(report.gate.violations).toContainEqual({
    rule: 'minCompletionRatio',
    allowed: 1,
    observed: 0,
  });
  expect([code, out]).toEqual([1, expect.stringContaining('regression: minCompletionRatio')]);
});

test('with --unmatched refuse the model hears that there is no answer, and goes on', async () => {
  const { report } = await evaluated(
    [{ calls: [{ tool: 'write_note', input: { text: 'never recorded' } }] }, { text: 'Done.' }],
    '--unmatched',
    'refuse',
  );
  expect(report.runs).toMatchObject([
    {
      same_end: true,
      new_effects: [{ tool: 'write_note', input: { text: 'never recorded' } }],
      unmatched: [{ kind: 'call', tool: 'write_note', input: { text: 'never recorded' } }],
    },
  ]);
  expect(report.gate.violations).toMatchObject([{ rule: 'maxNewEffects', observed: 1 }]);
  const [asked] = models[0]!.requests().slice(-1);
  expect(asked!.body).toContain('not_recorded');
});

test('a new model that fails ends the run, although the recorded run had another one to go on with', async () => {
  // The recorded run went on with its fallback.
  const recorded = textOfRecorded('G33-no-tombstone-without-a-torn-reply');
  writeFileSync(join(folder, 'bundles', 'run.json'), recorded);
  const failing = { status: 529, message: 'Overloaded' };
  const { report } = await evaluated([failing]);
  expect(report.runs).toMatchObject([
    { kind: 'played', now: { stop_reason: 'failed', completed: false, turns: 0 } },
  ]);
});

test('--at goes as recorded up to the step, and asks the model from there on', async () => {
  const { report } = await evaluated([AS_RECORDED, { text: 'Another word.' }], '--at', '5');
  expect(models[0]!.requests()).toHaveLength(1);
  expect(models[0]!.requests()[0]!.body).toContain('echo');
  expect(report.runs).toMatchObject([{ same_end: true, same_effects: true }]);
});

test('a gate file says what a regression is; Markdown and JUnit name it', async () => {
  writeFileSync(join(folder, 'gate.json'), '{"maxCostRatio": 0.5, "minSameEnd": 1}');
  const usage = { input: 1_000, output: 100 };
  const { code, report } = await evaluated(
    [
      { ...AS_RECORDED, usage },
      { text: 'Done.', usage },
    ],
    '--gate',
    'gate.json',
    '--markdown',
    'report.md',
    '--junit',
    'report.xml',
  );
  expect(report.gate.violations).toMatchObject([{ rule: 'maxCostRatio', allowed: 0.5 }]);
  expect(code).toBe(1);
  expect(readFileSync(join(folder, 'report.md'), 'utf8')).toContain('- **maxCostRatio**: 1');
  const junit = readFileSync(join(folder, 'report.xml'), 'utf8');
  expect(junit).toContain('<testcase classname="gate" name="maxCostRatio"><failure');
  expect(junit).toContain('<testcase classname="gate" name="minSameEnd"/>');
});

test('the gate of the guide does not hold beside a damaged bundle', async () => {
  const guide = readFileSync(join(__dirname, '../../docs/guide/failures.md'), 'utf8');
  const [, gate = ''] = /```json\n(\{\s*"maxNewEffects"[^]*?)```/.exec(guide) ?? [];
  writeFileSync(join(folder, 'gate.json'), gate);
  writeFileSync(join(folder, 'bundles', 'torn.json'), textOfRecorded(REPLACED).slice(0, -200));
  const replies = [AS_RECORDED, { text: 'Done.' }];
  const { code, report } = await evaluated(replies, '--gate', 'gate.json');
  expect(report.summary).toMatchObject({ played: 1, not_played: 1 });
  expect(report.gate.violations).toMatchObject([{ rule: 'maxNotPlayed' }]);
  expect(code).toBe(1);
});

test('bundles of one run are cases of JUnit with names of their own', async () => {
  writeFileSync(join(folder, 'bundles', 'same.json'), textOfRecorded(REPLACED));
  await evaluated([AS_RECORDED, { text: 'Done.' }], '--junit', 'report.xml');
  const junit = readFileSync(join(folder, 'report.xml'), 'utf8');
  const names = [...junit.matchAll(/classname="run" name="([^"]*)"/g)].map(([, name]) => name);
  expect(names).toEqual([REPLACED, `${REPLACED} (2)`]);
});

test('a run that no case can say is told, and is no silent pass', async () => {
  writeFileSync(join(folder, 'bundles', 'run.json'), textOfRecorded('S179'));
  const { code, report, out } = await evaluated([{ text: 'Done.' }]);
  expect(report.runs).toMatchObject([
    { kind: 'not_played', why: expect.stringContaining('lacks the run S179:a1') },
  ]);
  expect([code, out]).toEqual([1, expect.stringContaining('No run was played')]);
});

test.each([
  [['--from', 'bundles'], 'Nothing is new'],
  [['--from', 'bundles', '--model', 'scripted/new'], 'needs access to anthropic'],
  [['--from', 'nowhere', '--model', 'scripted/new'], 'neither a folder nor a query'],
  [['--from', 'colour=red', '--model', 'scripted/new'], 'cannot be read'],
  [['--from', 'status=tired', '--model', 'scripted/new'], 'no status "tired"'],
  [['--from', 'cost-from=much', '--model', 'scripted/new'], '--cost-from'],
  [['--from', 'bundles', '--model', 'nobody/knows'], 'is not known'],
  [['--from', 'bundles', '--model', 'scripted/new', '--unmatched', 'guess'], 'no way "guess"'],
  [['--from', 'bundles', '--model', 'scripted/new', '--gate', 'none.json'], 'cannot be read'],
  [['--from', 'agent=', '--model', 'scripted/new'], 'neither a folder nor a query'],
  // Said before anything is asked of a model, and paid.
  [['--from', 'bundles', '--model', 'scripted/new', '--junit', 'no/x.xml'], 'cannot be written'],
  [['--from', 'bundles', '--model', 'scripted/new', '--json', 'bundles'], 'is a folder'],
  [['cases', '--from', 'bundles', '--model', 'scripted/new'], 'two evaluations'],
  [['cases', '--gate', 'gate.json'], '--gate is for recorded runs'],
  [[], 'No case is named'],
])('%j is refused in words', async (words, why) => {
  const { code, err } = await holdfast(['eval', ...words]);
  expect(code).toBeGreaterThan(0);
  expect(err).toContain(why);
});

test('a report that cannot be written is an error, a folder in its place a wrong command line', async () => {
  const words = ['eval', '--from', 'bundles', '--model', 'scripted/new', '--json'];
  expect((await holdfast([...words, 'no/x.json'])).code).toBe(1);
  expect((await holdfast([...words, 'bundles'])).code).toBe(2);
});

test.each([
  [['--filter', 'x'], '--filter is for cases.'],
  [['--engine', 'both'], '--engine is for cases.'],
  [['--no-workflow-cache'], '--no-workflow-cache is for cases.'],
  [['--time-skipping'], '--time-skipping is for cases.'],
  [['--junit', 'r.xml', '--markdown', './r.xml'], '--markdown and --junit name one file.'],
  [['--from', ''], '--from is empty.'],
])('%j is refused before anything is asked', async (more, why) => {
  const words = ['eval', '--from', 'bundles', '--model', 'scripted/new', ...more];
  const { code, err } = await holdfast(words, { ANTHROPIC_API_KEY: 'sk-of-a-test' });
  expect([code, err]).toEqual([2, expect.stringContaining(why)]);
});

test('a gate that is not there is a wrong command line, one that the system refuses an error', async () => {
  symlinkSync('loop.json', join(folder, 'loop.json'));
  const words = ['eval', '--from', 'bundles', '--model', 'scripted/new', '--gate'];
  expect((await holdfast([...words, 'none.json'])).code).toBe(2);
  const refused = await holdfast([...words, 'loop.json']);
  expect([refused.code, refused.err]).toEqual([1, expect.stringContaining('loop.json')]);
});

test('a gate with an unknown rule is refused before anything is asked', async () => {
  writeFileSync(join(folder, 'gate.json'), '[]');
  const words = ['eval', '--from', 'bundles', '--model', 'scripted/new', '--gate', 'gate.json'];
  const key = { ANTHROPIC_API_KEY: 'sk-of-a-test' };
  expect(await holdfast(words, key)).toMatchObject({
    code: 2,
    err: expect.stringContaining('it is no object'),
  });
  writeFileSync(join(folder, 'gate.json'), '{"maxCosts": 1}');
  const { code, err } = await holdfast(words, key);
  expect([code, err]).toEqual([2, expect.stringContaining('maxCosts')]);
});

test('no secret of the environment stands in a report', async () => {
  const secret = 'never recorded 4711';
  const variables = { SHOP_TOKEN: secret };
  const { report, out } = await evaluated(
    [{ calls: [{ tool: 'write_note', input: { text: secret } }] }, { text: 'Done.' }],
    '--markdown',
    'report.md',
    '--junit',
    'report.xml',
    variables,
  );
  const files = ['report.json', 'report.md', 'report.xml'];
  for (const file of files) expect(readFileSync(join(folder, file), 'utf8')).not.toContain('4711');
  expect(out).not.toContain('4711');
  expect(JSON.stringify(report)).toContain('[value of SHOP_TOKEN]');
});

describe('replay --config', () => {
  const INDEX = compiledPath(join(__dirname, '..', '..', 'index.ts'));
  const configured = (policy: string, schema = 'z.object({ text: z.string() })') =>
    writeFileSync(
      join(folder, 'holdfast.config.cjs'),
      `const { z } = require('${require.resolve('zod')}');
       const { defineAgent, defineConfig, defineTool } = require('${INDEX}');
       const tool = (name, approval, input) =>
         defineTool({ name, version: '1', description: name, effect: 'write', idempotency: 'keyed', approval, input, run: () => 'x' });
       const text = z.object({ text: z.string() });
       module.exports = defineConfig({ agents: [defineAgent({
         name: 'case', version: '1', model: 'scripted/x', instructions: 'Handle the case.',
         tools: [tool('send_email', 'always', ${schema}), tool('write_note', 'never', text)], ${policy} })] });`,
    );

  const replayed = async () => {
    const words = ['replay', 'bundles/run.json', '--config', 'holdfast.config.cjs'];
    const { code, out } = await holdfast([...words, '--json']);
    return { code, said: (await holdfast(words)).out, report: JSON.parse(out) as unknown };
  };

  test('a policy of today that denies a call of then is told, with both ends', async () => {
    configured("policy: { rules: [{ tool: 'send_email', decision: 'deny' }] }");
    const { code, said, report } = await replayed();
    expect(report).toMatchObject({
      equal: false,
      decisions: [
        {
          call: 'm',
          tool: 'send_email',
          was: { permission: 'allow', end: 'ok' },
          now: { permission: 'deny' },
        },
      ],
      was: { stop_reason: 'completed' },
    });
    expect(code).toBe(1);
    expect(said).toContain('send_email (m): allow');
  });

  test('a schema of today that refuses the arguments is told', async () => {
    configured('', 'z.object({ text: z.string().min(2) })');
    const { code, report } = await replayed();
    expect([code, report]).toMatchObject([
      1,
      { decisions: [{ call: 'm', now: { end: 'invalid_arguments' } }] },
    ]);
  });

  test('a configuration that decides the same is equal', async () => {
    configured('');
    const { code, report } = await replayed();
    expect([code, report]).toMatchObject([0, { equal: true, decisions: [] }]);
  });

  test('a configuration without the recorded agent names those that it has', async () => {
    configured('');
    const config = join(folder, 'holdfast.config.cjs');
    writeFileSync(config, readFileSync(config, 'utf8').replace("name: 'case'", "name: 'shop'"));
    const words = ['replay', 'bundles/run.json', '--config', 'holdfast.config.cjs'];
    const { code, err } = await holdfast(words);
    expect([code, err]).toEqual([1, expect.stringContaining('Name one with --agent: shop.')]);
    expect(await holdfast([...words, '--agent', 'shop'])).toMatchObject({ code: 0 });
    const from = ['eval', '--from', 'bundles', '--config', 'holdfast.config.cjs'];
    const { out } = await holdfast(from);
    expect(out).toContain('bundles/run.json  not played: The configuration has no agent case.');
  });

  test('--agent without --config is refused', async () => {
    const { code, err } = await holdfast(['replay', 'bundles/run.json', '--agent', 'case']);
    expect([code, err]).toEqual([2, expect.stringContaining('--agent names an agent')]);
  });
});

describe('diff', () => {
  test('a case is the agent that it was made of: neither its name nor notes of tools are other actions', async () => {
    writeFileSync(join(folder, 'noted.json'), textOfRecorded(NOTED));
    await holdfast(['capture', 'noted.json', '-o', 'case.json']);
    for (const sides of [
      ['noted.json', 'case.json'],
      ['case.json', 'noted.json'],
    ]) {
      const { code, out } = await holdfast(['diff', ...sides, '--actions', '--json']);
      expect([code, JSON.parse(out)]).toMatchObject([0, { equal: true }]);
    }
    const words = await holdfast(['diff', 'noted.json', 'case.json']);
    expect(words.code).toBe(1);
  });

  test('the order in which tools are declared is no other action', async () => {
    writeFileSync(join(folder, 'coded.json'), textOfRecorded('sandbox-coded'));
    await holdfast(['capture', 'coded.json', '-o', 'case.json']);
    const { out } = await holdfast(['diff', 'coded.json', 'case.json', '--actions', '--json']);
    // The case does without the attempt whose worker died.
    expect(JSON.parse(out)).toMatchObject({ first: { a: { type: 'tool_reconciled' } } });
  });

  test('a case is played and compared with the run that it was made of, or with another case', async () => {
    await holdfast(['capture', 'bundles/run.json', '-o', 'case.json']);
    const same = await holdfast(['diff', 'bundles/run.json', 'case.json', '--actions', '--json']);
    expect([same.code, JSON.parse(same.out)]).toMatchObject([0, { equal: true }]);
    const text = readFileSync(join(folder, 'case.json'), 'utf8').replace('"modify"', '"approve"');
    const document = JSON.parse(text) as { during: { do: { resolveApproval: object }[] }[] };
    document.during[0]!.do[0]!.resolveApproval = { decision: 'reject', by: 'eve', call: 'm' };
    writeFileSync(join(folder, 'other.json'), JSON.stringify(document));
    const other = await holdfast(['diff', 'case.json', 'other.json', '--actions', '--json']);
    expect([other.code, JSON.parse(other.out)]).toMatchObject([
      1,
      { equal: false, differsIn: 'action', why: expect.stringContaining('a person') },
    ]);
  });

  test('a case of a goal is compared with its cycles as well, and how the goal ended is told', async () => {
    const goal = keptGoals().goals.find(({ name }) => name.endsWith('/G-6-cancel-a-cycle'))!;
    writeFileSync(join(folder, 'goal.json'), bundleText(goal.bundle));
    expect(await holdfast(['capture', 'goal.json', '-o', 'case.json'])).toMatchObject({ code: 0 });
    const words = ['diff', 'goal.json', 'case.json', '--actions'];
    const { code, out } = await holdfast([...words, '--json']);
    const end = { stopReason: 'aborted' };
    expect([code, JSON.parse(out)]).toMatchObject([0, { equal: true, a: end, b: end }]);
    const { below } = JSON.parse(out) as { below: readonly { run: string; equal: boolean }[] };
    expect(below).toMatchObject([{ run: 'c1', equal: true }]);
  });
});
