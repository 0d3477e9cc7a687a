/** The README stays a page, and what it tells people to write is what is tried. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { cliEnvironment } from '../../cli/environment.js';
import { runCli } from '../../cli/program.js';

const ROOT = join(__dirname, '..', '..');
const textOf = (file: string): string => readFileSync(join(ROOT, file), 'utf8');
const README = textOf('README.md');

test('it has about a hundred lines', () => {
  expect(README.split('\n').length).toBeLessThan(130);
});

test('its table of contents names every section', () => {
  const sections = [...README.matchAll(/^## (.*)$/gm)].map(([, title]) => title);
  const [, contents = ''] = /\n\n((?:- \[.*\n)+)\n## /.exec(README) ?? [];
  expect([...contents.matchAll(/^- \[(.*)\]/gm)].map(([, title]) => title)).toEqual(sections);
});

test('its agent is examples/minimal', () => {
  const [, agent = ''] = /```ts\n([\s\S]*?)```/.exec(README) ?? [];
  expect(agent.replace("'holdfast'", "'../../index.js'")).toBe(textOf('examples/minimal/agent.ts'));
});

test('the page about the command names every command', async () => {
  const said: string[] = [];
  const streams = {
    out: (text: string) => said.push(text),
    err: (text: string) => said.push(text),
  };
  await runCli(['--help'], { environment: cliEnvironment(), streams });
  const [, listed = ''] = /\n(Begin and run:\n[\s\S]*?)\nExit codes/.exec(said.join('')) ?? [];
  const names = [...listed.matchAll(/^ {2}([a-z]+)/gm)].map(([, name]) => name!);
  const page = textOf('docs/reference/command.md');
  expect(names.length).toBeGreaterThan(30);
  expect(names.filter((name) => name !== 'help' && !page.includes(`\`${name}\``))).toEqual([]);
});
