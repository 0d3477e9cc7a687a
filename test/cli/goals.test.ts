/** The commands about goals on files and a store alone: hostile texts stay texts. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { stateLines } from '../../cli/commands/goal/show.js';
import type { GoalView } from '../../core/state/goal/view.js';
import { openStore } from '../../store/store.js';
import { askView, eventsFrom, SESSION_INIT } from '../store/fixtures.js';
import { holdfastAt } from '../integration/support/cli-at.js';

const EVIL = '\u001B[2J\u202Egpj.exe\u0000';
const UNSAFE =
  // eslint-disable-next-line no-control-regex
  /[\u0000-\u0009\u000B-\u001F\u007F-\u009F\u200B-\u200F\u2028-\u202E\u2066-\u2069\uFEFF]/u;

let folder: string;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'holdfast-cli-goals-'));
  const store = await openStore({ file: join(folder, 'store.db') });
  const started = {
    type: 'goal_started',
    agent: 'matcher',
    objective: { text: `All matched.${EVIL}` },
    definition: 'h',
    maxCostMicroUsd: 1_000_000,
    pace: 'continuous',
    versions: {},
  } as const;
  const run = { tenant: 'default', runId: 'r1', execution: 'e' };
  await store.appendEvents(run, eventsFrom(0, [started]));
  for (const n of [1, 2]) {
    const child = { ...run, runId: `r1:c${n}` };
    const row = { parent: 'r1', n, digest: 'd', start: '{}' };
    await store.registerChild({ tenant: run.tenant, child: child.runId, ...row });
    const asked = { type: 'approval_requested', ...askView(`${child.runId}:q`) } as const;
    await store.appendEvents(
      child,
      eventsFrom(0, n === 1 ? [SESSION_INIT] : [SESSION_INIT, asked]),
    );
  }
  const pause = { type: 'goal_steered', by: 'mia', proven: true, text: { text: '' } } as const;
  const asleep = { type: 'goal_sleeping', until: Date.now() + 3_600_000, because: 'pace' } as const;
  const held = [started, asleep, { ...pause, control: 'pause' }];
  await store.appendEvents({ ...run, runId: 'r2' }, eventsFrom(0, held));
  await store.close();
  writeFileSync(
    join(folder, 'goal.yaml'),
    'objective: All matched.\nagent: matcher\ndone: {all: [{plan: complete}]}\nbudget: {maxCostMicroUsd: 1000000}\n',
  );
});

afterAll(() => rmSync(folder, { recursive: true, force: true }));

const holdfast = (...argv: readonly string[]) =>
  holdfastAt({ folder, address: 'localhost:1' }, argv);

test('a definition is checked without a server, and shown with its defaults', async () => {
  const { code, out } = await holdfast('goal', 'check', 'goal.yaml', '--json');
  expect(code).toBe(0);
  expect(JSON.parse(out)).toMatchObject({ definition: { pace: 'continuous', briefTokens: 8_000 } });
  const plain = await holdfast('goal', 'check', 'goal.yaml');
  expect(plain.out).toContain('Agent matcher; $1.00 in all, $0.10 a cycle, at most 100 cycles.');
});

test('goals are listed from the store, apart from runs, and made inert', async () => {
  const { code, out } = await holdfast('goal', 'list');
  expect(code).toBe(0);
  expect(out).toContain('$0.00 of $1.00');
  expect(out).not.toMatch(UNSAFE);
  const runs = await holdfast('list', '--json');
  expect(JSON.parse(runs.out)).toMatchObject({ runs: [{ runId: 'r1:c2' }, { runId: 'r1:c1' }] });
});

test('a goal that is paused while it sleeps is listed as paused, since when and by whom', async () => {
  const { out } = await holdfast('goal', 'list');
  const row = out.split('\n').find((line) => line.startsWith('r2'));
  expect(row).toContain('paused: since 1970-01-01T00:00:01.002Z, by mia');
  expect(row).not.toMatch(/sleeping|in \d+ min|in an hour/);
});

test('a goal that is shown as a run has no model, and none is said', async () => {
  const { out } = await holdfast('show', 'r1');
  expect(out.split('\n')[0]).toBe('r1 matcher');
});

test('a goal is shown with the question of its open cycle, and how that is answered', async () => {
  const { code, out } = await holdfast('goal', 'show', 'r1');
  expect(code).toBe(0);
  expect(out).toContain('r1:c2:q');
  expect(out).toMatch(/holdfast approve .*r1:c2:q/);
  expect(out).not.toMatch(UNSAFE);
  const shown = await holdfast('goal', 'show', 'r1', '--json');
  const { asks } = JSON.parse(shown.out) as {
    readonly asks: readonly { readonly askId: string }[];
  };
  expect(asks.map(({ askId }) => askId)).toEqual(['r1:c2:q']);
});

test.each([
  [['check', 'nothing.yaml'], 1, 'it does not exist'],
  [['start', 'unknown'], 2, 'There is no configuration'],
  [['start', 'goal.yaml', '--id', 'a b'], 1, 'The goal id "a b" cannot be used'],
  [['start', 'goal.yaml', '--budget', 'maxTurns=1'], 2, 'There is no budget "maxTurns"'],
  [['start', 'goal.yaml', '--budget', 'maxCycles=0'], 1, 'budget.maxCycles cannot be used'],
  [['start', 'goal.yaml', '--watch', '--detach'], 2, '--watch follows the goal'],
  [['budget', 'g', 'deadlineMs=5'], 2, 'There is no budget "deadlineMs"'],
  [['pace', 'g', 'sometimes'], 2, '"sometimes" is no pace'],
  [['pace', 'g', '0 9 * * *'], 2, 'A cron line needs a time zone'],
  [['pace', 'g', '9x'], 2, '"9x" is no pace: "x" is no unit of time; units are s, m, h and d'],
  [['pace', 'g', '0s'], 2, 'the time between two cycles is above 0'],
  [['review', 'g', '--objective', 'maybe'], 2, '--objective is valid or invalid'],
  [['plan', 'g', '--set', 'goal.yaml'], 1, 'it is no list of steps'],
  [['list', '--status', 'sleeping'], 2, 'a goal that is sleeping is listed under running'],
  [['list', '--status', 'paused'], 2, 'Known: running, awaiting_approval'],
  [['list', '--status', 'awake'], 2, 'There is no status "awake"'],
  [['show', 'r1', '--tenant', 'x'.repeat(300)], 2, '--tenant is a name'],
])('%j is refused, and the message says why', async (words, code, said) => {
  const answer = await holdfast('goal', ...words);
  expect(answer.err).toContain(said);
  expect(answer.code).toBe(code);
});

test.each(
  `start check list show watch log brief plan steer pause resume wake review budget pace handoff stop cancel restart`.split(
    ' ',
  ),
)('goal %s explains itself', async (name) => {
  const { code, out } = await holdfast('goal', name, '--help');
  expect(code).toBe(0);
  expect(out).toContain('--json');
  expect(out).toContain('Examples:');
});

test('what the desk answers to a word is shown, with the name by which the message is known', async () => {
  const desk = createServer((asked, answer) => {
    const key = asked.headers['idempotency-key'];
    const state = asked.url?.endsWith('/pause') === true ? 'taken' : 'sent';
    const body = {
      goalId: 'march',
      messageId: 'desk-1',
      state,
      message: `Taken under ${String(key)}.`,
    };
    asked.resume().on('end', () => {
      answer.setHeader('content-type', 'application/json').end(JSON.stringify(body));
    });
  });
  await new Promise<void>((listening) => desk.listen(0, '127.0.0.1', listening));
  const { port } = desk.address() as AddressInfo;
  const variables = { HOLDFAST_DESK_URL: `http://127.0.0.1:${port}`, HOLDFAST_TOKEN: 't' };
  const said = (...argv: readonly string[]) =>
    holdfastAt({ folder, address: 'localhost:1', variables }, ['goal', ...argv]);
  try {
    const paused = await said('pause', 'march', '--id', 'pause-1-of-march');
    expect(paused.out).toContain('Taken under pause-1-of-march.');
    const shown = await said('pause', 'march', '--json');
    expect(JSON.parse(shown.out)).toEqual({ goalId: 'march', id: 'desk-1', delivered: 'update' });
    const sent = await said('stop', 'march', '--json');
    expect(JSON.parse(sent.out)).toEqual({ goalId: 'march', id: 'desk-1', delivered: 'signal' });
  } finally {
    desk.close();
  }
});

test('a goal that sleeps and is paused is told as paused, not as one that wakes by itself', () => {
  const view = { cycles: 1, reviews: 0, checkpoints: 0, segment: 0, unreadMessages: 0, done: [] };
  const sleep = { until: Date.now() + 60_000, because: 'nothing to do' };
  const said = (more: object) => stateLines({ ...view, ...more } as unknown as GoalView).join('\n');
  expect(said({ sleep })).toContain('Sleeps, ');
  const paused = said({ sleep, paused: { by: 'ana' } });
  expect(paused).toContain('Paused by ana');
  expect(paused).not.toContain('Sleeps');
});

test('a goal whose server is away is shown as the store has it, and says so', async () => {
  const { code, out } = await holdfast('goal', 'show', 'r1');
  expect(code).toBe(0);
  expect(out).toContain('No Temporal server answers: this is what the store has');
  const { out: json } = await holdfast('goal', 'show', 'r1', '--json');
  expect(JSON.parse(json)).toMatchObject({ trouble: expect.stringContaining('holdfast doctor') });
});
