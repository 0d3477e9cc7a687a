/** The worker that opens a run tells what its start names in vain, and nobody else hears of it. */
import { z } from 'zod';
import { tellUnmatched } from '../../activities/run/unmatched-start.js';
import type { OpenRunInput } from '../../core/state/effect.js';
import { defineAgent, defineConfig, defineTool } from '../../authoring/index.js';
import { attempt, RUN, sessionEvent, startBed, type Bed } from './setup.js';

const refund = defineTool({
  name: 'refund',
  version: '1',
  effect: 'read',
  input: z.object({}),
  run: () => null,
});

let bed: Bed;
beforeAll(async () => {
  bed = await startBed({ tools: [refund] });
});
afterAll(() => bed.end());

async function opened(changes: object) {
  const said: string[] = [];
  const output = await attempt(bed.activities({ say: (line) => said.push(line) }).open_run, {
    v: 1,
    run: RUN,
    segment: 0,
    start: { v: 1, agent: 'helper', task: { goal: 'Do it.' }, ...changes },
    events: [sessionEvent()],
  });
  return { said, output };
}

test('Each name that matches no tool is told with its run, its place and what was meant.', async () => {
  const { said, output } = await opened({
    task: { goal: 'Do it.', forbiddenActions: ['refnd'], allowedActions: ['refund'] },
    settings: { disallowedTools: ['ref*', 'pay*'] },
    agents: { aide: { description: 'Helps.', prompt: 'Help.', disallowedTools: ['refunt'] } },
  });
  expect(said).toEqual([
    expect.stringMatching(
      /^The start of run run_1: task\.forbiddenActions\[0\] is "refnd", .*Did you mean refund\?/,
    ),
    expect.stringContaining('settings.disallowedTools[1] is "pay*"'),
    expect.stringContaining('agents.aide.disallowedTools[0] is "refunt"'),
  ]);
  expect(output.frozen?.settings.disallowedTools).toEqual(['ref*', 'pay*']);
});

test('A start whose names are all tools is opened without a word.', async () => {
  const task = { goal: 'Do it.', allowedActions: ['refund', 'agent'] };
  expect((await opened({ task })).said).toEqual([]);
});

const agent = defineAgent({ name: 'helper', model: 'scripted/x', instructions: 'Help.' });
const deps = { config: defineConfig({ agents: [agent] }) };
const input = (prefix: string, changes: object = {}): OpenRunInput => ({
  v: 1,
  run: RUN,
  segment: 0,
  events: [],
  start: {
    v: 1,
    agent: 'helper',
    task: {
      goal: 'Do it.',
      forbiddenActions: Array.from({ length: 24 }, (_, at) => `${prefix}_${at}`),
    },
    ...changes,
  },
});
const output = { rules: 25, eventsUpTo: 0 };

test('Many such names are a few lines, and a worker without a terminal has them in its log.', () => {
  const logged: string[] = [];
  const scope = { warn: (line: string) => void logged.push(line) };
  tellUnmatched(deps, scope, { input: input('wrong'), output });
  expect(logged).toHaveLength(6);
  expect(logged.at(-1)).toBe('And 19 more.');
  tellUnmatched(deps, scope, { input: input('wrong'), output });
  const parent = { kind: 'run', runId: 'run_0' };
  tellUnmatched(deps, scope, { input: input('below', { parent }), output });
  tellUnmatched(deps, scope, {
    input: input('later'),
    output: { ...output, elsewhere: 'unserved' },
  });
  expect(logged).toHaveLength(6);
});

test('A list that starts of several agents share may name what a connector of another agent gives.', () => {
  const other = defineAgent({
    name: 'other',
    model: 'scripted/x',
    instructions: 'Help.',
    mcp: ['crm'],
  });
  const mcp = { crm: { url: 'https://crm.test' } };
  const said: string[] = [];
  const scope = { warn: (line: string) => void said.push(line) };
  const forbiddenActions = ['mcp__crm__merge', 'mcp__erp__merge'];
  const start = { task: { goal: 'Do it.', forbiddenActions } };
  const config = defineConfig({ agents: [agent, other], mcp });
  tellUnmatched({ config }, scope, { input: input('', start), output });
  expect(said).toEqual([expect.stringContaining('forbiddenActions[1] is "mcp__erp__merge"')]);
});

test('A name from outside has no controls in its line, and a terminal that is gone stops no run.', () => {
  const said: string[] = [];
  const start = { task: { goal: 'Do it.', forbiddenActions: ['\u009b31m\u202ex'] } };
  const scope = { warn: (line: string) => void said.push(line) };
  tellUnmatched(deps, scope, { input: input('', start), output });
  expect(said).toEqual([expect.stringContaining('"?31m?x"')]);
  const say = () => {
    throw new Error('closed');
  };
  expect(() =>
    tellUnmatched({ ...deps, say }, scope, { input: input('gone'), output }),
  ).not.toThrow();
});
