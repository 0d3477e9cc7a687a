/** Commands that read, where neither the named store nor a server is there. */
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { runCli } from '../../cli/program.js';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'holdfast-nowhere-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

async function said(words: readonly string[], variables = {}): Promise<string> {
  let err = '';
  const streams = { out: () => undefined, err: (text: string) => void (err += text) };
  const environment = { variables, folder, colour: false, interactive: false };
  expect(await runCli(words, { environment, streams })).toBe(1);
  return err;
}

const READING = [['list'], ['show run_1']] as const;
const wordsOf = (command: string): readonly string[] => command.split(' ');

test.each(READING)('%s names a store that is not there, before the server', async (command) => {
  const words = wordsOf(command);
  for (const more of [[], ['--address', '127.0.0.1:1']]) {
    const error = await said([...words, '--store', 'wrong.db', ...more]);
    expect(error).toMatch(/There is no store at .*wrong\.db\. No Temporal server/);
    expect(error).toContain('name that store with --store');
  }
  const error = await said(words, { HOLDFAST_STORE: 'wrong.db' });
  expect(error).toContain('name that store with --store or HOLDFAST_STORE');
});

test.each(READING)('%s blames the server alone where no store was named', async (command) => {
  expect(await said(wordsOf(command))).not.toContain('There is no store');
});

test('a store that is there is not blamed', async () => {
  writeFileSync(join(folder, 'right.db'), '');
  expect(await said(['list', '--stuck', '--store', 'right.db'])).not.toContain('There is no store');
});

test('a command that reads no past run blames the server alone', async () => {
  const error = await said(['message', 'run_1', 'Go on', '--store', 'wrong.db']);
  expect(error).not.toContain('There is no store');
});

test('a list of keys, and a key that is revoked, make no store', async () => {
  let out = '';
  let err = '';
  const streams = {
    out: (text: string) => void (out += text),
    err: (text: string) => void (err += text),
  };
  const environment = { variables: {}, folder, colour: false, interactive: false };
  expect(await runCli(['keys', 'list', '--store', 'new.db'], { environment, streams })).toBe(0);
  expect(out).toContain('There is no key. Make one: holdfast keys create');
  expect(err).toMatch(/^There is no store at .*new\.db\.$/m);
  expect(await said(['keys', 'revoke', 'dk_1', '--store', 'new.db'])).toContain('no key dk_1');
  expect(readdirSync(folder)).toEqual([]);
});

test.each([
  ['sessions', /^Error: There is no store at .*\.holdfast/],
  ['transcript run_1', /^Error: There is no store at .*\.holdfast/],
  ['audit list', /^Error: There is no store at .*\.holdfast/],
])('`%s` names the place of the store that is not there', async (command, message) => {
  const error = await said(wordsOf(command));
  expect(error).toMatch(message);
  expect(error).toContain('Name the store of your workers with --store or HOLDFAST_STORE.');
});

test.each([
  [[], 'Give exactly one of --tool'],
  [['--tool', 'pay'], '--reason is needed'],
])('`freeze %p` is a wrong command line before any store is looked for', async (words, message) => {
  let err = '';
  const streams = { out: () => undefined, err: (text: string) => void (err += text) };
  const environment = { variables: {}, folder, colour: false, interactive: false };
  expect(await runCli(['freeze', ...words], { environment, streams })).toBe(2);
  expect(err).toContain(message);
});
