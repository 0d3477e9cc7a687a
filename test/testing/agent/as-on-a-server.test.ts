/** `testAgent` where the simulation has to do as a server and its workers do. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { askPerson, defineAgent, defineConfig } from '../../../index.js';
import { calls, testAgent, type AgentTest } from '../../../testing/index.js';

const seeded = (seed: string) =>
  defineAgent({
    name: 'seeded',
    model: 'anthropic/claude-sonnet-5-5',
    instructions: 'Work.',
    sandbox: { seed },
  });

describe('virtual time stands still for what takes real time as a run is opened', () => {
  test('the gates of tasks are waited for, and their word counts', async () => {
    const [slowly, gated] = [
      () => sleep(20).then(() => undefined),
      (refuseTask: () => Promise<string | undefined>) =>
        defineAgent({
          name: 'gated',
          model: 'anthropic/claude-sonnet-5-5',
          instructions: 'Work.',
          refuseTask,
        }),
    ];
    const one: AgentTest = { goal: 'Work.', model: ['Done.'] };
    expect(await testAgent(gated(slowly), one)).toMatchObject({ answer: 'Done.' });
    const config = defineConfig({
      agents: [gated(slowly)],
      refuseTask: () => sleep(20).then(() => 'Not on Sundays.'),
    });
    const refused = await testAgent(gated(slowly), { ...one, config });
    expect(refused).toMatchObject({
      stopReason: 'refused',
      result: { nextSafeAction: 'Not on Sundays.' },
    });
  });

  test('the folder that an agent begins with is copied in no time', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'holdfast-seed-'));
    for (let n = 0; n < 20; n += 1) writeFileSync(join(folder, `${n}.txt`), `${n}`);
    try {
      const run = await testAgent(seeded(folder), { goal: 'Work.', model: ['Done.'] });
      expect(run).toMatchObject({ answer: 'Done.', durationMs: 0 });
    } finally {
      rmSync(folder, { recursive: true });
    }
  });
});

test('a sub-agent that cannot be opened is told by its failure, as a server tells it', async () => {
  const parent = defineAgent({
    name: 'parent',
    model: 'anthropic/claude-sonnet-5-5',
    instructions: 'Have it done.',
    agents: { worker: { description: 'Works.', agent: seeded('/nowhere/at/all') } },
  });
  const run = await testAgent(parent, {
    goal: 'Work.',
    model: [calls('agent', { name: 'worker', prompt: 'Work.' }), 'Done.'],
    agents: { seeded: ['Never asked.'] },
  });
  expect(run.calls).toMatchObject([
    { status: 'error', result: 'The sub-agent worker did not finish: failed (InvalidTask).' },
  ]);
});

test('an answer that no run would take is an error of the test', async () => {
  const asking = defineAgent({
    name: 'asking',
    model: 'anthropic/claude-sonnet-5-5',
    instructions: 'Ask.',
    tools: [askPerson],
  });
  const answered = testAgent(asking, {
    goal: 'Paint it.',
    model: [calls('ask_person', { question: 'Which colour?' }), 'Blue.'],
    answers: () => 'blue '.repeat(1_000),
  });
  await expect(answered).rejects.toMatchObject({
    code: 'InvalidFixture',
    message: expect.stringContaining('its answers: value must be JSON of at most') as unknown,
  });
});
