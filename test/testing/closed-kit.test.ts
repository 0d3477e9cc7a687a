/** What the kit for tests cannot use is refused: a fault that never comes, or a recording that is played, would look like success. */
import { defineAgent, defineConfig, defineGoal, usd } from '../../index.js';
import {
  cassette,
  openCassette,
  planCrash,
  replayRuns,
  simulateGoal,
  startTestServer,
} from '../../testing/index.js';

const place = { address: '127.0.0.1:9' };
const plan = { seed: 1, stream: 0, passages: {} };
const opened = (options: object) => () => openCassette(cassette('/nowhere/x.json', options));

test.each<[string, () => unknown, string, RegExp]>([
  ['replayRuns', () => replayRuns({ adress: 'x:1' } as never, []), 'adress', /^Did you mean addr/],
  ['replayRuns', () => replayRuns(place, 'r1' as never), 'runIds', /^Correct runIds/],
  ['planCrash', () => planCrash({ ...plan, boundry: 'x' } as never), 'boundry', /^Did you mean b/],
  [
    'planCrash',
    () => planCrash({ ...plan, boundary: 'before-clam' } as never),
    'boundary',
    /^Did you mean before-claim/,
  ],
  ['planCrash', () => planCrash({ ...plan, passages: { claim: 1 } } as never), 'passages', /^Corr/],
  ['startTestServer', () => startTestServer({ prot: 1 } as never), 'prot', /^Did you mean port/],
  ['startTestServer', () => startTestServer({} as never), 'environment', /^Correct env/],
])('%s refuses what it cannot use: %#', async (_, attempt, what, next) => {
  const refused = await (async () => attempt())().catch((error: unknown) => error);
  expect(refused).toMatchObject({
    code: 'InvalidConfig',
    message: expect.stringContaining(what) as string,
    hint: expect.stringMatching(next) as string,
  });
});

const agent = defineAgent({
  name: 'a',
  model: 'anthropic/claude-sonnet-5-5',
  instructions: 'Work.',
});
const config = defineConfig({ agents: [agent] });
const goal = defineGoal({
  name: 'g',
  objective: 'The books are in order.',
  agent,
  done: { all: [{ judge: 'strict', rubric: 'The books are in order.', atLeast: 0.8 }] },
  judges: { strict: { instructions: 'Be strict.' } },
  budget: { maxCostMicroUsd: usd(1) },
});
const simulated = (more: object) => () => simulateGoal({ goal, config, ...more } as never);

test.each<[string, () => Promise<unknown>, string]>([
  ['a misspelt option of a goal', simulated({ onEvnt: () => undefined }), '"onEvnt"'],
  ['a configuration that is none', simulated({ config: {} }), 'its config'],
  ['a word for a script', simulated({ model: 'Done.' }), 'its model'],
  ['a script that is none', simulated({ agents: { b: 'Done.' } }), '`agents` cannot use its b'],
  ['a turn that cannot be played', simulated({ model: [{ txt: 'x' }] }), '"txt"'],
  ['scripts beside providers', simulated({ model: ['x'], providers: new Map() }), 'beside'],
  ['a misspelt option of a cassette', opened({ recrod: true }), '"recrod"'],
  ['a word for a flag of a cassette', opened({ record: 'yes' }), 'its record'],
  ['a text that is no list of secrets', opened({ secrets: 'long enough' }), 'its secrets'],
  [
    'a secret that is too short to look for in a recording',
    opened({ secrets: ['short'], record: true }),
    'its secrets',
  ],
])('%s is refused', async (_, attempt, what) => {
  await expect(attempt()).rejects.toMatchObject({
    code: 'InvalidFixture',
    message: expect.stringContaining(what) as string,
  });
});
