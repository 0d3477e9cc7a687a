/** Forks with the agent of a configuration: it is opened as it is now, and nothing of it is asked for that. */
import {
  defineAgent,
  defineConfig,
  defineHook,
  type AgentDefinition,
  type Config,
} from '../../authoring/index.js';
import { toldOf } from '../../cli/terminal/long-work.js';
import { isOpen } from '../../core/state/run.js';
import { playDry, type DryTerms } from '../../evaluation/fork/dry.js';
import { openedBy } from '../../evaluation/fork/opening.js';
import type { ForkPlace } from '../../evaluation/fork/prepare.js';
import { scriptOf } from '../../providers/scripted/script.js';
import { startScriptedModel, type ScriptedModel } from '../../providers/scripted/server.js';
import { foldOf } from '../../recording/fold.js';
import { openMemoryStore } from '../../store/store.js';
import { readEnvironment } from '../../worker/config.js';
import { providersOf } from '../../worker/providers.js';
import { stored } from '../replay/setup.js';
import { until } from '../until.js';

let model: ScriptedModel;
let place: ForkPlace & { readonly name: string };
beforeAll(async () => {
  const bundle = await stored('approved');
  const fold = foldOf(bundle);
  if (fold.kind !== 'run') throw new Error('no run');
  const { step } = fold.steps.find(({ inputs }) => inputs.some(({ type }) => type === 'decision'))!;
  const { name } = fold.at(step).after.frozen!.agent;
  place = { fold, bundle, step, name };
  const script = scriptOf([{ text: 'As recorded.' }, { text: 'Done.' }]);
  model = await startScriptedModel({ script });
});
afterAll(() => model.stop());

function configOf(more: Partial<AgentDefinition> = {}): Config {
  const { name } = place;
  const agent = { name, model: 'scripted/new', instructions: 'Go on.', tools: [], ...more };
  return defineConfig({ agents: [defineAgent(agent)] });
}

function played(config: Config, more: Partial<DryTerms> = {}) {
  const variables = { ANTHROPIC_API_KEY: 'sk-of-a-test', ANTHROPIC_BASE_URL: model.baseUrl };
  const providers = providersOf(readEnvironment(variables, __dirname));
  return playDry(place, { changes: { config }, providers, ...more });
}

test.each(['SessionStart', 'SessionEnd'] as const)(
  'hooks of the point %s are not asked while a fork is opened, and the fork goes on',
  async (point) => {
    const asked: string[] = [];
    const run = (_: unknown, { runId }: { runId: string }) => void asked.push(runId);
    const hook = defineHook({ name: 'greeter', point, run });
    const fork = await played(configOf({ hooks: [hook] }));
    expect(fork).toMatchObject({ stopReason: 'completed', answer: 'Done.' });
    expect(asked.filter((runId) => runId.endsWith('.opening'))).toEqual([]);
  },
);

test('gates judge no task, and no folder is read, while a fork is opened', async () => {
  let judged = 0;
  const refuseTask = () => {
    judged += 1;
    return 'Nobody works on it.';
  };
  const config = configOf({ refuseTask, sandbox: { seed: '/nowhere/a-folder' } });
  const fork = await played({ ...config, refuseTask });
  expect([judged, fork.stopReason]).toEqual([0, 'completed']);
});

test('an opening that does not end is refused by the name of its agent', async () => {
  const memory = await openMemoryStore();
  const never = () => new Promise(() => undefined);
  const silent = new Proxy(memory, {
    get: (store, key) => (key === 'putNode' ? never : Reflect.get(store, key)),
  });
  const { fold, step, bundle } = place;
  const run = fold.at(step).after;
  if (!isOpen(run)) throw new Error('the run was not open');
  const opened = openedBy(configOf(), { store: silent, bundle, run }, 50);
  await expect(opened).rejects.toMatchObject({
    code: 'ForkRefused',
    message: `The agent ${place.name} of the configuration did not open within 0.05 s.`,
  });
  await memory.close();
});

const never = () => new Promise<never>(() => undefined);

test('a hook that never answers holds a fork for no longer than its own time', async () => {
  let asked = 0;
  const run = () => {
    asked += 1;
    return never();
  };
  const hook = defineHook({ name: 'silent', point: 'Stop', timeoutMs: 50, run });
  const fork = await played(configOf({ hooks: [hook] }));
  expect([asked, fork.stopReason]).toEqual([1, 'completed']);
});

test('a fork that takes too long tells what it waits for, and has told how far it is', async () => {
  const told: string[] = [];
  const providers = new Map([['anthropic', { name: 'anthropic', complete: never }]]);
  const onProgress = (words: string) => void told.push(words);
  const fork = played(configOf(), { providers, limitMs: 50, onProgress });
  const words = expect.stringMatching(/has played \d turns? and waits for the model\.$/);
  await expect(fork).rejects.toMatchObject({ code: 'NetworkTimeout', message: words });
  expect(told).toContainEqual(words);
});

test('a command tells again and again what its long work is at, and stops with it', async () => {
  const told: string[] = [];
  let at = 1;
  const output = { remark: (text: string) => void told.push(text) };
  const work = async () => {
    await until(() => told.length >= 2);
    return 'done';
  };
  expect(await toldOf(output, { words: () => `Turn ${at++}.`, everyMs: 5 }, work)).toBe('done');
  expect(told.slice(0, 2)).toEqual(['Turn 1.', 'Turn 2.']);
});
