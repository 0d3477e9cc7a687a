/** Runs that began under other code than `dev` began with: what that lacks is found in code that is saved later. */
import { ApplicationFailure } from '@temporalio/common';
import { z } from 'zod';
import type { Activities, ActivityKind } from '../../core/state/effect.js';
import { liveCode, type Code } from '../../cli/dev/live-code.js';
import {
  agentTool,
  defineAgent,
  defineConfig,
  defineHook,
  defineTool,
  type ConfigDefinition,
  type ModelScript,
} from '../../authoring/index.js';
import { createScriptedProvider } from '../../providers/scripted/provider.js';
import { until } from '../until.js';
import { APPROVER } from './support/agents.js';
import { openAsk, startWorld, type World } from './support/world.js';

let world: World;
beforeAll(async () => {
  world = await startWorld({ worker: false });
});
afterAll(() => world.stop());

const done: string[] = [];

const payOf = (edition: string, version = '1') =>
  defineTool({
    name: 'pay',
    version,
    effect: 'write',
    approval: 'always',
    input: version === '1' ? z.object({}) : z.object({ currency: z.string() }),
    run: (_, { runId }) => {
      done.push(`${runId}: ${edition} pays`);
      return { edition };
    },
  });

const noteOf = (edition: string) =>
  defineTool({
    name: 'note',
    version: '1',
    effect: 'read',
    input: z.object({}),
    run: (_, { runId }) => {
      done.push(`${runId}: ${edition} notes`);
      return { edition };
    },
  });

const watchOf = (edition: string) =>
  defineHook({
    name: 'watch',
    point: 'PostToolUse',
    run: (_, { runId }) => void done.push(`${runId}: ${edition} watches`),
  });

function code(definition: Partial<ConfigDefinition>, scripted: ModelScript): Code {
  const idle = defineAgent({ name: 'idle', model: 'scripted/x', instructions: '.' });
  const config = defineConfig({ agents: [idle], ...definition, scripted });
  return { config, providers: new Map([['scripted', createScriptedProvider(scripted)]]) };
}

/** Whoever serves `first`, and hears which activities were refused for want of code. */
async function serveLive(first: Code) {
  const live = liveCode(first);
  const refused: string[] = [];
  const heard = (activities: Activities): Activities => {
    const kinds = Object.entries(activities) as [
      ActivityKind,
      (input: never) => Promise<unknown>,
    ][];
    const listening = kinds.map(([kind, perform]) => [
      kind,
      async (input: never) => {
        try {
          return await perform(input);
        } catch (error) {
          if (error instanceof ApplicationFailure && error.type === 'NotServed') refused.push(kind);
          throw error;
        }
      },
    ]);
    return Object.fromEntries(listening) as unknown as Activities;
  };
  const worker = await world.serve({
    ...first,
    activities: (deps) => heard(live.activities(deps)),
  });
  live.join(worker);
  return {
    live,
    waitsIn: (kind: ActivityKind) => until(() => refused.includes(kind)),
    async end() {
      await world.retire(worker);
      await live.close();
    },
  };
}

const start = (runId: string, agent: string, wait?: boolean) =>
  world.client.start({ runId, agent, task: 'Do it.', ...(wait !== undefined && { wait }) });

test('a tool and a hook that the first code lacks serve the run when a save brings them back', async () => {
  const script: ModelScript = ({ assistantMessages }) =>
    [{ calls: [{ tool: 'note', input: {} }] }, { calls: [{ tool: 'pay', input: {} }] }][
      assistantMessages
    ] ?? { text: 'Paid.' };
  const payer = (tools: ReturnType<typeof noteOf>[], hooks: ReturnType<typeof watchOf>[]) =>
    defineAgent({ name: 'payer', model: 'scripted/x', instructions: '.', tools, hooks });
  const before = code(
    { agents: [payer([noteOf('before'), payOf('before')], [watchOf('before')])] },
    script,
  );
  const earlier = await world.serve(before);
  const run = await start('brought-back', 'payer');
  const ask = await openAsk(run);
  await world.retire(earlier);

  const first = code({ agents: [payer([noteOf('first'), payOf('first', '2')], [])] }, script);
  const { live, waitsIn, end } = await serveLive(first);
  await run.approve(ask.askId, APPROVER);
  await waitsIn('execute_tool');
  await live.replace(code({ retiredTools: [payOf('second')] }, script));
  await waitsIn('run_hooks');
  await live.replace(code({ retiredHooks: [watchOf('third')] }, script));

  const { result } = await world.ended(run);
  expect(result.answer).toMatchObject({ text: 'Paid.' });
  expect(done.filter((line) => line.startsWith('brought-back: '))).toEqual([
    'brought-back: before notes',
    'brought-back: before watches',
    'brought-back: second pays',
    'brought-back: third watches',
  ]);
  expect(await live.replace(first)).toBe(0);
  await end();
});

test('what a run has found stays with it, and what its own code has is never looked for', async () => {
  const script: ModelScript = ({ assistantMessages }) => {
    if (assistantMessages === 3) return { text: 'Paid.' };
    return { calls: [{ tool: assistantMessages === 1 ? 'note' : 'pay', input: {} }] };
  };
  const tools = [noteOf('before'), payOf('before')];
  const before = defineAgent({ name: 'payer', model: 'scripted/x', instructions: '.', tools });
  const earlier = await world.serve(code({ agents: [before] }, script));
  const run = await start('found', 'payer');
  const ask = await openAsk(run);
  await world.retire(earlier);

  const { live, waitsIn, end } = await serveLive(code({ retiredTools: [noteOf('first')] }, script));
  await run.approve(ask.askId, APPROVER);
  await waitsIn('execute_tool');
  await live.replace(code({ retiredTools: [noteOf('second'), payOf('second')] }, script));
  const again = await openAsk(run);
  await live.replace(code({ retiredTools: [noteOf('third')] }, script));
  await run.approve(again.askId, APPROVER);

  await world.ended(run);
  expect(done.filter((line) => line.startsWith('found: '))).toEqual([
    'found: second pays',
    'found: first notes',
    'found: second pays',
  ]);
  await end();
});

test('a run that waits for its agent begins with the code that brings it', async () => {
  const script: ModelScript = ({ assistantMessages }) =>
    assistantMessages === 0 ? { calls: [{ tool: 'note', input: {} }] } : { text: 'Noted.' };
  const writer = (edition: string) =>
    defineAgent({
      name: 'writer',
      model: 'scripted/x',
      instructions: '.',
      tools: [noteOf(edition)],
    });
  const { live, waitsIn, end } = await serveLive(code({}, script));
  const starting = start('waits-for-agent', 'writer', true);
  await waitsIn('open_run');
  await live.replace(code({ agents: [writer('second')] }, script));
  const { result } = await world.ended(await starting);
  expect(result.answer).toMatchObject({ text: 'Noted.' });
  expect(done).toContain('waits-for-agent: second notes');
  await end();
});

test('a sub-agent that the first code lacks is started when a save brings it back', async () => {
  const script: ModelScript = ({ system, assistantMessages }) => {
    const calls = system.includes('Ask.') ? ['pay', 'helper'] : ['note'];
    const tool = calls[assistantMessages];
    return tool === undefined ? { text: 'Done.' } : { calls: [{ tool, input: {} }] };
  };
  const model = 'scripted/x';
  const bossOf = (edition: string) => {
    const note = noteOf(edition);
    const made = defineAgent({ name: 'helper', model, instructions: 'Help.', tools: [note] });
    const helper = agentTool(made, { input: z.object({}) });
    // A sub-agent has no tool that its parent lacks.
    const tools = [payOf(edition), note, helper];
    return defineAgent({ name: 'boss', model, instructions: 'Ask.', tools });
  };
  const earlier = await world.serve(code({ agents: [bossOf('before')] }, script));
  const run = await start('asks-helper', 'boss');
  const ask = await openAsk(run);
  await world.retire(earlier);

  const { live, waitsIn, end } = await serveLive(code({ retiredTools: [payOf('first')] }, script));
  await run.approve(ask.askId, APPROVER);
  await waitsIn('check_call');
  await live.replace(code({ agents: [bossOf('second')] }, script));
  const { result } = await world.ended(run);
  expect(result.answer).toMatchObject({ text: 'Done.' });
  expect(done.filter((line) => line.startsWith('asks-helper'))).toEqual([
    'asks-helper: first pays',
    'asks-helper:a1: second notes',
  ]);
  await end();
});
