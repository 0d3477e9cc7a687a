/**
 * No secret leaves, whatever a run has seen: values of secret variables, and what --redact hides, over everything that is
 * written or shown of a recorded run. HOLDFAST_SEED repeats the choice; HOLDFAST_WHOLE=1 takes more runs.
 */
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { secretWatch } from '../../cli/commands/exported.js';
import { runCli } from '../../cli/program.js';
import { HoldfastError } from '../../core/state/errors.js';
import { scriptOf } from '../../providers/scripted/script.js';
import { startScriptedModel, type ScriptedModel } from '../../providers/scripted/server.js';
import { foldOf } from '../../recording/fold.js';
import { bundleText, type Bundle } from '../../replay/bundle.js';
import { redactBundle } from '../../replay/redaction/redact-bundle.js';
import { parseRules } from '../../replay/redaction/rules.js';
import { drawn } from '../draw.js';
import { documentValues } from '../replay/setup.js';
import { saySeed, SEED, WHOLE } from '../seed.js';
import { recordedRun, recordedRuns } from './capture/recorded-runs.js';

const MINUTE = 60_000;
const RUNS = WHOLE ? 40 : 4;
const STEPS = 3;
/** As a person writes: several words, so that no name of a field, a tool or a rule is one. */
const SENTENCE = /^[\w,.'’: -]{12,200}$/;

const names = drawn(recordedRuns(), RUNS, SEED);
let folder: string;
let model: ScriptedModel;
beforeAll(async () => {
  model = await startScriptedModel({ script: scriptOf([{ text: 'Done.' }]) });
});
afterAll(() => model.stop());
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'secrets-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

async function holdfast(words: readonly string[], variables: Record<string, string> = {}) {
  let said = '';
  const take = (text: string): void => void (said += text);
  const code = await runCli(words, {
    environment: { variables, folder, colour: false, interactive: false },
    streams: { out: take, err: take },
  });
  return { code, said };
}

/** What this run has seen and somebody may want to hide, drawn by the seed. */
function secretOf(bundle: Bundle): string | undefined {
  const goal = bundle.events.find((event) => event.type === 'session_init')?.goal;
  const texts = new Set<string>();
  const take = (value: unknown): void => {
    if (typeof value === 'string' && SENTENCE.test(value) && value.includes(' ')) texts.add(value);
    if (typeof value === 'object' && value !== null) Object.values(value).forEach(take);
  };
  take(goal);
  for (const event of bundle.events) {
    if (event.type === 'model_response') take([event.text, event.calls.map(({ args }) => args)]);
    if (event.type === 'tool_finished') take(event.content);
  }
  return drawn([...texts], 1, SEED)[0];
}

/** Everything that these commands say and write about `file`. */
async function toldOf(file: string, variables: Record<string, string>): Promise<string> {
  const steps = foldOf(JSON.parse(readFileSync(join(folder, file), 'utf8')) as Bundle).steps;
  const some = drawn(steps, STEPS, SEED).map(({ step }) => String(step));
  const said: string[] = [];
  for (const json of [[], ['--json']]) {
    said.push((await holdfast(['inspect', file, ...json], variables)).said);
    for (const step of [...some, 'last']) {
      said.push((await holdfast(['inspect', file, '--at', step, ...json], variables)).said);
    }
    said.push((await holdfast(['diff', file, 'other.json', ...json], variables)).said);
    said.push((await holdfast(['replay', file, ...json], variables)).said);
  }
  said.push((await holdfast(['capture', file, '-o', 'case.json'], variables)).said);
  mkdirSync(join(folder, 'bundles'), { recursive: true });
  writeFileSync(join(folder, 'bundles', 'run.json'), readFileSync(join(folder, file)));
  const reports = ['--json', 'report.json', '--junit', 'report.xml', '--markdown', 'report.md'];
  const past = ['eval', '--from', 'bundles', '--model', 'scripted/new', ...reports];
  const reached = { ANTHROPIC_API_KEY: 'sk-of-a-test', ANTHROPIC_BASE_URL: model.baseUrl };
  said.push((await holdfast(past, { ...variables, ...reached })).said);
  const written = readdirSync(folder).filter((name) => /^(case|report)\./.test(name));
  return [...said, ...written.map((name) => readFileSync(join(folder, name), 'utf8'))].join('\n');
}

saySeed(`${names.length} recorded runs keep their secrets`);

test.each(names)(
  '%s: nothing tells the value of a secret variable, and no bundle of it is exported',
  async (name) => {
    const bundle = recordedRun(name);
    const secret = secretOf(bundle);
    if (secret === undefined) return;
    writeFileSync(join(folder, 'run.json'), bundleText(bundle));
    writeFileSync(join(folder, 'other.json'), bundleText(recordedRun(recordedRuns()[0]!)));
    const variables = { SHOP_TOKEN: secret };
    expect(await toldOf('run.json', {})).toContain(secret);
    rmSync(join(folder, 'case.json'), { force: true });
    expect(await toldOf('run.json', variables)).not.toContain(secret);
    const look = await secretWatch(variables);
    const shown = documentValues(bundle).then((values) => values.forEach(look));
    await expect(shown).rejects.toMatchObject({
      code: 'RedactionRefused',
      message: expect.not.stringContaining(secret),
    });
  },
  MINUTE,
);

test.each(names)(
  '%s: nothing tells what --redact hides',
  async (name) => {
    const bundle = recordedRun(name);
    const secret = secretOf(bundle);
    if (secret === undefined) return;
    const regex = secret.replaceAll(/[^\w ]/g, (one) => `\\${one}`);
    const rules = parseRules({ rules: [{ name: 'secret', regex }] }, 'rules.json');
    const redacted = await redactBundle(bundle, rules).catch((error: unknown) => {
      // Where it cannot be hidden no file is written.
      if (error instanceof HoldfastError && error.code === 'RedactionRefused') return undefined;
      throw error;
    });
    if (redacted === undefined) return;
    expect(JSON.stringify(await documentValues(redacted))).not.toContain(secret);
    writeFileSync(join(folder, 'run.json'), bundleText(redacted));
    writeFileSync(join(folder, 'other.json'), bundleText(redacted));
    expect(await toldOf('run.json', {})).not.toContain(secret);
  },
  MINUTE,
);
