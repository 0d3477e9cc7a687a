/** The worker that opens a run tells what its start names in vain, and nobody else hears of it. */
import { z } from 'zod';
import { tellUnmatched } from '../../activities/run/unmatched-start.js';
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

test('Many such names are a few lines, and a worker without a terminal has them in its log.', () => {
  const logged: string[] = [];
  const forbiddenActions = Array.from({ length: 24 }, (_, at) => `wrong_${at}`);
  const agent = defineAgent({ name: 'helper', model: 'scripted/x', instructions: 'Help.' });
  const deps = { config: defineConfig({ agents: [agent] }) } as unknown as Parameters<
    typeof tellUnmatched
  >[0];
  const start = { v: 1, agent: 'helper', task: { goal: 'Do it.', forbiddenActions } } as const;
  const scope = { warn: (line: string) => void logged.push(line) };
  tellUnmatched(deps, scope, { run: RUN, start });
  expect(logged).toHaveLength(21);
  expect(logged.at(-1)).toMatch(/^And 4 more\./);
  const parent = { kind: 'run', runId: 'run_0' } as never;
  tellUnmatched(deps, scope, { run: RUN, start: { ...start, parent } });
  expect(logged).toHaveLength(21);
});
