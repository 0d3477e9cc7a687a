/** Code that changes under runs: those that begin get the newest, each run under way keeps the one that it began with. */
import { z } from 'zod';
import { liveCode, type Code } from '../../cli/dev/live-code.js';
import { defineAgent, defineConfig, defineTool, type ModelScript } from '../../authoring/index.js';
import { createScriptedProvider } from '../../providers/scripted/provider.js';
import { until } from '../until.js';
import { startWorld, type World } from './support/world.js';

let world: World;
beforeAll(async () => {
  world = await startWorld({ worker: false });
});
afterAll(() => world.stop());

const done: string[] = [];
let release: () => void = () => undefined;

/** The same tool with other code; `waits`: its first call waits until it is released. */
function code(edition: string, { waits = false, agents = ['a'] } = {}): Code {
  const gate = waits ? new Promise<void>((open) => (release = open)) : Promise.resolve();
  const note = defineTool({
    name: 'note',
    version: '1',
    effect: 'read',
    input: z.object({ n: z.number() }),
    run: async ({ n }, { runId }) => {
      done.push(`${runId}: ${edition} begins ${n}`);
      if (n === 1) await gate;
      return { edition };
    },
  });
  const scripted: ModelScript = ({ assistantMessages }) =>
    assistantMessages < 2
      ? { calls: [{ tool: 'note', input: { n: assistantMessages + 1 } }] }
      : { text: `Said by ${edition}.` };
  const made = agents.map((name) =>
    defineAgent({ name, model: 'scripted/x', instructions: edition, tools: [note] }),
  );
  const config = defineConfig({ agents: made, scripted });
  return { config, providers: new Map([['scripted', createScriptedProvider(scripted)]]) };
}

const start = (runId: string, agent = 'a') =>
  world.client.start({ runId, agent, task: 'Note twice.' });

test('a run keeps its code over a save, and the next run has the new one', async () => {
  const first = code('first', { waits: true });
  const live = liveCode(first);
  const { config, providers } = first;
  const worker = await world.serve({
    config,
    providers,
    activities: (deps) => live.activities(deps),
  });
  live.join(worker);
  const under = await start('under-way');
  await until(() => done.length > 0);
  expect(live.work.shown()).toEqual([expect.stringMatching(/^note of under-way/)]);

  expect(await live.replace(code('second', { agents: ['b', 'a'] }))).toBe(1);
  const next = await world.ended(await start('new'));
  const other = await world.ended(await start('new-agent', 'b'));
  release();
  const { result } = await world.ended(under);

  expect(done.toSorted()).toEqual([
    'new-agent: second begins 1',
    'new-agent: second begins 2',
    'new: second begins 1',
    'new: second begins 2',
    'under-way: first begins 1',
    'under-way: first begins 2',
  ]);
  const answers = [result, next.result, other.result].map(({ answer }) => answer);
  expect(answers).toMatchObject([
    { text: 'Said by first.' },
    { text: 'Said by second.' },
    { text: 'Said by second.' },
  ]);
  // All have ended: nobody keeps older code.
  expect(await live.replace(code('third', { agents: ['c'] }))).toBe(0);
  await expect(start('gone')).rejects.toMatchObject({ code: 'UnknownAgent' });
  await world.retire(worker);
  await live.close();
});

test('what a tool said that failed is told, also where the run hears only that nobody knows', async () => {
  const pay = defineTool({
    name: 'pay',
    version: '1',
    effect: 'write',
    approval: 'never',
    input: z.object({}),
    run: () => {
      throw new Error('the bank is away');
    },
  });
  const scripted: ModelScript = () => ({ calls: [{ tool: 'pay', input: {} }] });
  const payer = defineAgent({
    name: 'payer',
    model: 'scripted/x',
    instructions: '.',
    tools: [pay],
  });
  const config = defineConfig({ agents: [payer], scripted });
  const providers = new Map([['scripted', createScriptedProvider(scripted)]]);
  const lines: string[] = [];
  const live = liveCode({ config, providers }, (line) => void lines.push(line));
  const worker = await world.serve({
    config,
    providers,
    activities: (deps) => live.activities(deps),
  });
  const run = await start('pays', 'payer');
  await until(() => lines.length > 0);
  expect(lines[0]).toMatch(
    /^pay of pays failed: “the bank is away”\. Whether the call took effect/,
  );
  await run.cancel();
  await world.ended(run);
  await world.retire(worker);
  await live.close();
});
