/** `holdfast fork --dry`: recorded runs go on from a step with a model on loopback; no effect happens. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { runCli } from '../../cli/program.js';
import type { DryFork } from '../../evaluation/fork/dry-fork.js';
import { playDry } from '../../evaluation/fork/dry.js';
import { scriptOf, type ScriptedAnswer } from '../../providers/scripted/script.js';
import { startScriptedModel, type ScriptedModel } from '../../providers/scripted/server.js';
import { resolveRoute } from '../../providers/routes.js';
import { foldOf } from '../../recording/fold.js';
import { bundleText, type Bundle } from '../../replay/bundle.js';
import { providersOf } from '../../worker/providers.js';
import { readEnvironment } from '../../worker/config.js';
import { drawn } from '../draw.js';
import { recordedRun, recordedRuns } from '../evaluation/capture/recorded-runs.js';
import { stored } from '../replay/setup.js';
import { compiledPath } from '../compiled.js';
import { saySeed, SEED } from '../seed.js';

let folder: string;
let approved: Bundle;
let text: string;
const models: ScriptedModel[] = [];
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'holdfast-fork-dry-'));
  approved = await stored('approved');
  text = bundleText(approved);
  writeFileSync(join(folder, 'approved.json'), text);
});
afterEach(() => Promise.all(models.splice(0).map((model) => model.stop())));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

async function access(replies: readonly ScriptedAnswer[]) {
  const model = await startScriptedModel({ script: scriptOf(replies) });
  models.push(model);
  return { ANTHROPIC_API_KEY: 'sk-of-a-test', ANTHROPIC_BASE_URL: model.baseUrl };
}

/** The model says these replies, of which those that the conversation has already count. */
async function forked(replies: readonly ScriptedAnswer[], at: number, ...more: readonly string[]) {
  const variables = await access(replies);
  let [out, err] = ['', ''];
  const words = ['fork', 'approved.json', '--at', `${at}`, '--model', 'scripted/new', '--json'];
  const code = await runCli([...words, ...more], {
    environment: { variables, folder, colour: false, interactive: false },
    streams: { out: (line) => void (out += line), err: (line) => void (err += line) },
  });
  return { code, said: out + err, fork: JSON.parse(out) as DryFork };
}

/** The first step that began this, or received it. */
function stepOf(what: string): number {
  return foldOf(approved).steps.find(
    ({ effects, inputs }) =>
      effects.some(({ kind }) => kind === what) || inputs.some(({ type }) => type === what),
  )!.step;
}

const RECORDED = { text: 'As recorded.' };
const DONE = { text: 'All done.' };

function asked(): string {
  return models.at(-1)!.requests().at(-1)?.body ?? '';
}

test('an open question is taken as given, the effect would be executed, asks, and repeats what was handed over', async () => {
  const { code, fork } = await forked([RECORDED, DONE], stepOf('decision') - 1);
  expect(code).toBe(0);
  expect(fork).toMatchObject({
    mode: 'dry',
    stopReason: 'completed',
    answer: 'All done.',
    wouldExecute: [{ tool: 'issue_refund', asks: true, repeats: { step: stepOf('execute_tool') } }],
  });
  expect(asked()).toContain('would_execute');
  expect(fork.costMicroUsd).toBeGreaterThan(0);
  expect(fork.totalCostMicroUsd).toBeGreaterThan(fork.costMicroUsd);
  // The record is what it was.
  expect(readFileSync(join(folder, 'approved.json'), 'utf8')).toBe(text);
});

test('a file as exports write it is forked, whatever the order of the hashes of its messages', async () => {
  const byHash = Object.entries(approved.nodes).toSorted(([a], [b]) => (a < b ? -1 : 1));
  // One of both orders has a message before the one that it follows.
  for (const entries of [byHash, byHash.toReversed()]) {
    writeFileSync(
      join(folder, 'approved.json'),
      bundleText({ ...approved, nodes: Object.fromEntries(entries) }),
    );
    const { code, said } = await forked([RECORDED, DONE], stepOf('decision') - 1);
    expect({ code, said: code === 0 ? '' : said }).toEqual({ code: 0, said: '' });
  }
  writeFileSync(join(folder, 'approved.json'), text);
});

test('an effect in flight has the outcome that was recorded later, or the one that is given', async () => {
  const at = stepOf('execute_tool');
  const recorded = await forked([RECORDED, DONE], at);
  expect(recorded.fork).toMatchObject({ stopReason: 'completed', wouldExecute: [] });
  const fold = foldOf(approved);
  if (fold.kind !== 'run') throw new Error('the bundle is of a goal');
  const [call] = fold.at(at).after.turn!.calls;
  const given = await forked([RECORDED, DONE], at, '--result', `${call!.id}={"refund":"refused"}`);
  expect(given.fork).toMatchObject({ stopReason: 'completed', wouldExecute: [] });
  expect(asked()).toContain('refused');
  const unknown = await forked([RECORDED, DONE], at, '--result', 'no_call={}');
  expect([unknown.code, unknown.said]).toEqual([
    1,
    expect.stringContaining(`no_call is not at hand after step ${at}. These are: ${call!.id}.`),
  ]);
  const early = await forked([RECORDED, DONE], 2, '--result', `${call!.id}={}`);
  expect(early.said).toContain('No call is: the step is before the model proposed one');
});

test('instructions, words of the user, a policy and a budget are those that are named', async () => {
  writeFileSync(join(folder, 'prompt.md'), 'Refund nothing any more.');
  writeFileSync(
    join(folder, 'policy.json'),
    '{"rules": [{"tool": "*", "decision": "deny", "reason": "Nothing is refunded."}]}',
  );
  const at = stepOf('decision') - 1;
  const { fork } = await forked(
    [RECORDED, DONE],
    at,
    '--instructions',
    'prompt.md',
    '--message',
    'Look at it again.',
    '--policy',
    'policy.json',
  );
  expect(fork).toMatchObject({ stopReason: 'completed', wouldExecute: [] });
  for (const words of ['Refund nothing any more.', 'Look at it again.', 'Nothing is refunded.']) {
    expect(asked()).toContain(words);
  }
  const limited = await forked([RECORDED, DONE], at, '--budget', 'maxTurns=1');
  expect(limited.fork).toMatchObject({ stopReason: 'max_turns', turns: 1 });
});

test('reads run by the code of a configuration, effects do not; its policy decides', async () => {
  writeFileSync(join(folder, 'holdfast.config.mjs'), configuration());
  const reading = { calls: [{ tool: 'get_order', input: { orderId: 'O-17' } }] };
  const refund = { calls: [{ tool: 'issue_refund', input: { orderId: 'O-17', cents: 1 } }] };
  const { fork } = await forked(
    [reading, reading, refund, DONE],
    stepOf('call_model'),
    '--config',
    'holdfast.config.mjs',
  );
  expect(fork).toMatchObject({
    stopReason: 'completed',
    reads: [{ tool: 'get_order', from: 'configuration' }, { tool: 'get_order' }],
    wouldExecute: [{ tool: 'issue_refund', args: { orderId: 'O-17', cents: 1 } }],
  });
  expect(asked()).toContain('read by code');
  expect(asked()).not.toContain('EFFECT');
});

test('code that reads in a sandbox may take its time', async () => {
  const sandboxed =
    "sandbox: 'required', sandboxRun: () => new Promise((tell) => setTimeout(tell, 30, 'read in a sandbox')),";
  writeFileSync(join(folder, 'sandboxed.config.mjs'), configuration(sandboxed));
  const reading = { calls: [{ tool: 'get_order', input: { orderId: 'O-17' } }] };
  await forked([reading, DONE], stepOf('call_model'), '--config', 'sandboxed.config.mjs');
  expect(asked()).toContain('read in a sandbox');
});

function configuration(ofReading = ''): string {
  const fold = foldOf(approved);
  const { agent } = (fold.kind === 'run' && fold.at(fold.steps.length).after.frozen) as {
    agent: { name: string };
  };
  return `import { defineAgent, defineConfig, defineTool } from ${JSON.stringify(compiledPath('index.js'))};
const input = { type: 'object', additionalProperties: true };
const get = defineTool({ name: 'get_order', version: '1', description: 'Reads.', effect: 'read', idempotency: 'natural', input,
  ${ofReading} run: () => Promise.resolve({ order: 'read by code' }) });
const refund = defineTool({ name: 'issue_refund', version: '1', description: 'Pays.', effect: 'financial', idempotency: 'keyed', input,
  approval: { roles: ['support'] }, run: () => Promise.resolve('EFFECT') });
export default defineConfig({ agents: [defineAgent({ name: ${JSON.stringify(agent.name)}, model: 'scripted/new',
  instructions: 'By the configuration.', tools: [get, refund] })] });
`;
}

test('a step at which the run is not open, or ends, and a model without a key are refused', async () => {
  const early = await forked([DONE], 1);
  expect([early.code, early.said]).toEqual([1, expect.stringContaining('had not begun its work')]);
  const last = await forked([DONE], foldOf(approved).steps.length);
  expect([last.code, last.said]).toEqual([1, expect.stringContaining('was ending')]);
  let err = '';
  const code = await runCli(['fork', 'approved.json', '--at', `${stepOf('call_model')}`], {
    environment: { variables: {}, folder, colour: false, interactive: false },
    streams: { out: () => undefined, err: (line) => void (err += line) },
  });
  expect([code, err]).toEqual([1, expect.stringContaining('--model')]);
});

test('a recorded run can be forked at every step that is neither before its opening nor in its end', async () => {
  const variables = await access(Array.from({ length: 300 }, () => DONE));
  const providers = providersOf(readEnvironment(variables, folder));
  const changes = { route: resolveRoute('scripted/new') };
  const names = drawn(recordedRuns(), 4, SEED);
  saySeed(`forks of ${names.join(', ')}`);
  for (const name of names) {
    const bundle = recordedRun(name);
    const fold = foldOf(bundle);
    if (fold.kind !== 'run') continue;
    for (const { step } of fold.steps) {
      const played = await playDry({ fold, bundle, step }, { changes, providers }).catch(
        (error: unknown) => {
          expect(error).toMatchObject({ code: 'ForkRefused' });
        },
      );
      if (played) expect(played.stopReason).toMatch(/^[a-z_]+$/);
    }
  }
});

test('a sub-agent that is a role of its agent (auditor/clerk) can be forked from its record', async () => {
  const providers = providersOf(readEnvironment(await access([DONE]), folder));
  const bundle = recordedRun('trees-told_a1_a1');
  const fold = foldOf(bundle);
  if (fold.kind !== 'run') throw new Error('no run');
  const changes = { route: resolveRoute('scripted/new') };
  const step = fold.steps.find(({ effects }) => effects.some(({ kind }) => kind === 'call_model'));
  const played = await playDry({ fold, bundle, step: step?.step ?? 0 }, { changes, providers });
  expect(played.stopReason).toBe('completed');
});

describe('of a run with connectors', () => {
  const elicited = recordedRun('connectors-elicited');
  const ask = { calls: [{ tool: 'mcp__crm__ask_first', input: { again: true } }] };
  const find = { calls: [{ tool: 'mcp__crm__get_contact', input: { id: 'c9' } }] };

  test.each(['the record', 'a configuration with the connector'])(
    'no server is reached with the code of %s: effects are listed, reads answer from the record',
    async (code) => {
      writeFileSync(join(folder, 'elicited.json'), bundleText(elicited));
      const authoring = compiledPath(join(__dirname, '..', '..', 'authoring', 'index.ts'));
      // Nobody listens there, and a required server that is down ends a run.
      writeFileSync(
        join(folder, 'served.config.cjs'),
        `const { defineAgent, defineConfig } = require(${JSON.stringify(authoring)});
         const agent = { name: 'served', model: 'scripted/new', instructions: 'Serve.', mcp: ['crm'] };
         module.exports = defineConfig({
           agents: [defineAgent(agent)],
           mcp: { crm: { url: 'http://127.0.0.1:1/mcp', required: true } },
         });`,
      );
      const variables = await access([find, ask, DONE]);
      let out = '';
      const first = foldOf(elicited).steps.find(({ effects }) =>
        effects.some(({ kind }) => kind === 'call_model'),
      )!;
      const config = code === 'the record' ? [] : ['--config', 'served.config.cjs'];
      const words = ['fork', 'elicited.json', '--at', `${first.step}`, '--model', 'scripted/new'];
      await runCli([...words, '--json', ...config], {
        environment: { variables, folder, colour: false, interactive: false },
        streams: { out: (line) => void (out += line), err: (line) => void (out += line) },
      });
      expect(JSON.parse(out)).toMatchObject({
        stopReason: 'completed',
        wouldExecute: [{ tool: 'mcp__crm__ask_first' }],
        reads: [{ tool: 'mcp__crm__get_contact', from: 'not_recorded' }],
      });
    },
  );
});
