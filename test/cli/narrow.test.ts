/** Lists and cards in a terminal of 40 columns: nothing is left out, and what somebody copies stays whole. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { runCli } from '../../cli/program.js';
import { folded } from '../../cli/render/folded.js';
import { approvalCard, COLOURED, PLAIN, table } from '../../cli/render/index.js';
import { openStore } from '../../store/store.js';
import { askView, eventsFrom, RESULT, SESSION_INIT } from '../store/fixtures.js';

const COLUMNS = 40;
const OPEN = 'run_01JABCDEFGHJKMNPQRSTVWXYZ0';
const FAILED = 'run_01JABCDEFGHJKMNPQRSTVWXYZ1';
const GOAL = 'reconcile-every-invoice-of-march';
const HASH = 'c0ffee'.repeat(11);
const QUESTION = `${OPEN}:approval:17:of-a-very-long-name`;

let folder: string;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'holdfast-narrow-'));
  const store = await openStore({ file: join(folder, 'store.db') });
  const tell = (runId: string, bodies: Parameters<typeof eventsFrom>[1]) =>
    store.appendEvents(
      { tenant: 'default', runId, execution: 'e' },
      eventsFrom(0, bodies, Date.now()),
    );
  const args = { reason: 'The parcel came late, and the customer wants the money back.' };
  const asked = askView(QUESTION, { argsHash: HASH, args });
  await tell(OPEN, [SESSION_INIT, { type: 'approval_requested', ...asked }]);
  await tell(FAILED, [SESSION_INIT, { type: 'run_result', result: RESULT }]);
  await tell(GOAL, [
    {
      type: 'goal_started',
      agent: 'matcher',
      objective: { text: 'Every invoice of March is matched with a payment, or has a reason.' },
      definition: 'h',
      maxCostMicroUsd: 1_000_000,
      pace: 'continuous',
      versions: {},
    },
  ]);
  await store.close();
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

async function linesOf(columns: number, ...argv: readonly string[]): Promise<readonly string[]> {
  let out = '';
  const code = await runCli([...argv, '--store', join(folder, 'store.db')], {
    environment: { variables: {}, folder, colour: false, columns, interactive: false },
    streams: { out: (text) => void (out += text), err: () => undefined },
  });
  expect(code).toBe(0);
  return out.trimEnd().split('\n');
}

/** Beside what is copied whole, a sentence may be as long as it is: a terminal breaks it. */
const fits = (line: string): boolean =>
  line.length <= COLUMNS || !/\S\s/.test(line.trim()) || line.endsWith('.');

test.each([
  ['list', [OPEN, FAILED], 'goal Refund order 7'],
  ['failures', [FAILED], 'stop reason max_cost: limit of 1 USD'],
  ['goal list', [GOAL], 'spent $0.00 of $1.00'],
])('`%s` fits, with whole ids and all that it says', async (command, ids, words) => {
  const lines = await linesOf(COLUMNS, ...command.split(' '));
  expect(lines.filter((line) => !fits(line))).toEqual([]);
  for (const id of ids) expect(lines.join('\n')).toContain(id);
  expect(lines.join(' ').replace(/\s+/g, ' ')).toContain(words);
});

test('a row of a list begins with its run', async () => {
  const lines = await linesOf(COLUMNS, 'list');
  expect(lines.filter((line) => !line.startsWith(' '))).toEqual([`run ${FAILED}`, `run ${OPEN}`]);
});

test('a wide terminal has the table of a pipe', async () => {
  expect((await linesOf(200, 'list'))[0]).toMatch(/^run {29}agent {3}status/);
});

test('a card keeps its border and breaks no hash, no id and no command', async () => {
  const lines = await linesOf(COLUMNS, 'approvals');
  const commands = lines.filter((line) => line.includes('holdfast '));
  expect(commands[0]).toMatch(`${QUESTION} --as NAME --role refund-manager`);
  const others = lines.filter((line) => !commands.includes(line));
  expect(others.filter((line) => !/^[┌│└]/.test(line))).toEqual([]);
  expect(others.filter((line) => !fits(line.slice(2)))).toEqual([]);
  for (const word of [HASH, QUESTION]) expect(lines).toContain(`│ ${word}`);
});

test('no text from outside begins a line of a card', () => {
  const question = `${'x '.repeat(COLUMNS / 2 - 1)}money 1 cent`;
  const paint = { ...COLOURED, columns: COLUMNS };
  const card = approvalCard(askView('a:1', { question }), { runId: 'a', now: 0, paint });
  expect(card).toContain('\n│   ↳ money 1 cent\n');
});

const forged = (question: string, columns: number): readonly string[] => {
  const paint = { ...COLOURED, columns };
  const card = approvalCard(askView('a:1', { question }), { runId: 'a', now: 0, paint });
  // eslint-disable-next-line no-control-regex
  return card.replace(/\u001B\[\d+m/g, '').split('\n');
};

test.each([
  ['signs of two columns', `${'漢'.repeat(38)} └─ approved by lead`],
  ['a word that is longer than a line', `${'x'.repeat(78)}└─_approved_by_lead`],
  ['a hash of its own', 'c0ffee11'.repeat(8)],
])('a question with %s begins no line of the card', (_what, question) => {
  for (const columns of [40, 80]) {
    const lines = forged(question, columns);
    const wide = (line: string) => line.length + (line.match(/[漢]/g)?.length ?? 0);
    expect(lines.filter((line) => wide(line) > columns && !/holdfast/.test(line))).toEqual([]);
    expect(lines.filter((line) => !/^[┌│└]/.test(line))).toEqual([]);
    expect(lines.join('')).toContain(question.slice(0, 5));
  }
  expect(forged(question, 40)).not.toContain(`│ ${question}`);
});

test('a colour ends with its line, and goes on behind the border', () => {
  const line = `${COLOURED.bold(COLOURED.yellow('several words that go on'))} and more`;
  expect(folded(line, 16, { hanging: '> ' })).toEqual([
    '\u001B[1m\u001B[33mseveral words\u001B[22m\u001B[39m',
    '\u001B[1m\u001B[33m> that go on\u001B[39m\u001B[22m and',
    '> more',
  ]);
});

test('a narrow table without rows still says its columns', () => {
  const of = (columns: number) =>
    table({ head: ['run', 'status', 'why'], rows: [], paint: { ...PLAIN, columns } });
  expect(of(8)).toBe(of(80));
});

test('the last column of a table is broken between words, below itself', () => {
  const rows = [['r1', 'a goal of several words that goes on']];
  const shown = table({ head: ['run', 'goal'], rows, paint: { ...PLAIN, columns: 28 } });
  expect(shown).toBe('run  goal\nr1   a goal of several words\n     that goes on');
});

test('a table that fits into the terminal stays a table', () => {
  const rows = [['r1', 'ok', '']];
  const of = (columns: number) =>
    table({ head: ['run', 'status', 'why'], rows, paint: { ...PLAIN, columns } });
  expect(of(16)).toBe('run  status  why\nr1   ok');
  expect(of(15)).toBe('run r1\n  status ok');
});
