/** Sentences of the command name its commands as they have to be typed where it was called. */
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { approvalCard, asCalled, invocationOf } from '../../cli/render/index.js';
import { COMMAND_NAMES, repeatedFlags } from '../../cli/render/called.js';
import { cliEnvironment, givenBy } from '../../cli/environment.js';
import { runCli } from '../../cli/program.js';
import { createOutput } from '../../cli/terminal/output.js';
import { HoldfastError } from '../../core/state/errors.js';
import type { AskView } from '../../core/state/ask-view.js';

const LOCAL = '/shop/node_modules/.bin/holdfast';
const WINDOWS = 'C:\\shop\\node_modules\\holdfast\\dist\\cli\\main.js';

test.each([
  [LOCAL, 'npm/11.0.0 node/v22.0.0', 'npx holdfast'],
  [LOCAL, undefined, 'npx holdfast'],
  [LOCAL, 'pnpm/10.1.0 npm/? node/v22.0.0', 'pnpm exec holdfast'],
  [LOCAL, 'yarn/4.5.0 npm/? node/v22.0.0', 'yarn holdfast'],
  [LOCAL, 'bun/1.2.0', 'bunx holdfast'],
  [WINDOWS, 'npm/11.0.0 node/v22.0.0', 'npx holdfast'],
  // Global ones, which the shell finds.
  ['/usr/bin/holdfast', 'npm/11.0.0 node/v22.0.0', 'holdfast'],
  [WINDOWS.replace('shop', 'npm'), undefined, 'holdfast'],
  ['/clone/cli/main.ts', 'npm/11.0.0 node/v22.0.0', 'holdfast'],
  ['/clone/node_modules/.bin/jest', 'npm/11.0.0 node/v22.0.0', 'holdfast'],
])('%s under %s is called %s', (script, agent, called) => {
  expect(invocationOf(script, agent)).toBe(called);
});

test('commands are called, and nothing else is', () => {
  const own = asCalled('npx holdfast');
  expect(own('Run `holdfast doctor`, or: holdfast mcp-server --http')).toBe(
    'Run `npx holdfast doctor`, or: npx holdfast mcp-server --http',
  );
  for (const text of [
    'npx holdfast show r',
    'the package holdfast has no command',
    'npm create holdfast@latest',
    'node_modules/holdfast list',
    'holdfast showing',
    'holdfast-tools list',
  ])
    expect(own(text)).toBe(text);
  expect(asCalled('holdfast')('holdfast show r')).toBe('holdfast show r');
});

test('pages are named where they lie, from the folder of the reader', () => {
  const own = asCalled('npx holdfast', {}, 'node_modules/holdfast/docs');
  const lies = 'node_modules/holdfast/docs/guide/cases.md';
  expect(own('see docs/guide/cases.md in the package holdfast.')).toBe(`see ${lies}.`);
  expect(own('(docs/guide/cases.md in the package\n holdfast)')).toContain(lies);
  expect(own('my-docs/guide/cases.md')).toBe('my-docs/guide/cases.md');
  expect(asCalled('holdfast')('docs/guide/cases.md')).toBe('docs/guide/cases.md');
});

test('the program names the pages of its own package, and each is there', async () => {
  const { docs = '' } = cliEnvironment();
  expect(existsSync(resolve(docs, 'reference/errors.md'))).toBe(true);
  let said = '';
  const hear = (text: string) => void (said += text);
  const environment = { ...cliEnvironment(), docs: '/pkg/docs' };
  for (const words of [['--help'], ['export', '--help'], ['eval', '--help'], ['capture', '--help']])
    await runCli(words, { environment, streams: { out: hear, err: hear } });
  const pages = [...said.matchAll(/[\w/]*docs\/[a-z]+\/[\w-]+\.md/g)].map(([page]) => page);
  expect(pages.length).toBeGreaterThan(3);
  for (const page of pages) {
    expect(page).toContain('/pkg/docs/');
    expect(existsSync(resolve(docs, page.replace(/^.*\/pkg\/docs\//, '')))).toBe(true);
  }
});

test('a sentence of the program that names a page says in which package', () => {
  const listed = spawnSync('git', ['grep', '-nE', 'docs/[a-z]+/[a-z-]+\\.md', '--', ...SPOKEN], {
    encoding: 'utf8',
  });
  const lines = listed.stdout.split('\n').filter((line) => line !== '');
  const said = lines.filter((line) => !/:\s*(?:\/\/|\/?\*)/.test(line));
  expect(said.length).toBeGreaterThan(15);
  expect(said.filter((line) => !/\.md in the package holdfast/.test(line))).toEqual([]);
});
const SPOKEN = ['authoring', 'cli', 'client', 'connection', 'connectors', 'console', 'evaluation']
  .concat(['http', 'providers', 'replay', 'sandbox', 'store', 'testing', 'worker'])
  .map((folder) => `${folder}/*.ts`);

async function saidBy(
  argv: readonly string[],
  invocation?: string,
  docs?: string,
): Promise<string> {
  let said = '';
  const hear = (text: string) => void (said += text);
  const environment = {
    variables: {},
    folder: '/',
    colour: false,
    interactive: false,
    ...(invocation !== undefined && { invocation }),
    ...(docs !== undefined && { docs }),
  };
  await runCli(argv, { environment, streams: { out: hear, err: hear } });
  return said;
}

test('each command of the program is known', async () => {
  const help = await saidBy(['--help']);
  const listed = [...help.matchAll(/^ {2}([a-z][a-z-]+)(?:[ |]|$)/gm)].map(([, name]) => name!);
  expect([...new Set(listed)].toSorted()).toEqual([...COMMAND_NAMES].toSorted());
});

test('what was given is repeated where a command takes it', () => {
  const own = asCalled('npx holdfast', {
    '--address': 'h:1',
    '--store': 'my data/s.db',
    '--home': 'sub/.holdfast',
    '--config': 'sub/c.ts',
    '--desk': 'https://d',
  });
  const place = "--address h:1 --store 'my data/s.db' --home sub/.holdfast";
  expect(own('See `holdfast goal show g`, or: holdfast list --root r')).toBe(
    `See \`npx holdfast goal show ${place} g\`, or: npx holdfast list ${place} --desk https://d --root r`,
  );
  expect(own('`holdfast doctor` says more.')).toBe(
    `\`npx holdfast doctor ${place} --config sub/c.ts\` says more.`,
  );
  // A server is started, not looked for.
  expect(own('`holdfast dev`, `holdfast server`')).toBe(
    "`npx holdfast dev --store 'my data/s.db' --home sub/.holdfast --config sub/c.ts`, `npx holdfast server --home sub/.holdfast`",
  );
  expect(own('holdfast watch r --home /other\nholdfast whoami')).toBe(
    "npx holdfast watch --address h:1 --store 'my data/s.db' r --home /other\nnpx holdfast whoami --desk https://d",
  );
  for (const text of [
    'holdfast COMMAND --help',
    'holdfast goal',
    'holdfast init',
    'holdfast --help',
  ])
    expect(own(text)).toBe(`npx ${text}`);
});

test('hints repeat the options of the command line, without a password', async () => {
  const said = await saidBy(['show', 'r', '--home', '/nowhere', '--namespace', 'n']);
  expect(said).toContain('`holdfast dev --home /nowhere`');
  const given = givenBy('worker', { store: 'postgres://u:secret@h/d', config: 'sub/c.ts' }, {});
  expect(JSON.stringify(given)).not.toContain('secret');
  expect(given).toMatchObject({ '--config': 'sub/c.ts', '--home': 'sub/.holdfast' });
  expect(
    givenBy('worker', { config: 'sub/c.ts' }, { HOLDFAST_HOME: '/h' })['--home'],
  ).toBeUndefined();
  // There it names what is tried.
  expect(givenBy('replay', { config: 'sub/c.ts' }, {})).toEqual({});
});

test('each command that a sentence may name takes the options that are repeated', async () => {
  for (const name of COMMAND_NAMES.filter((one) => one !== 'help')) {
    const help = await saidBy([name, '--help']);
    const commands = help.slice(help.indexOf('\nCommands:')).matchAll(/^ {2}([a-z]+)(?= )/gm);
    const below = help.includes('\nCommands:') ? [...commands].map(([, one]) => one!) : [];
    for (const one of below.filter((word) => word !== 'help')) {
      const text = await saidBy([name, one, '--help']);
      expect(repeatedFlags(`${name} ${one}`)).toEqual(flagsIn(text));
    }
    if (below.length > 0) expect(repeatedFlags(name)).toEqual([]);
    else if (name !== 'dev' && name !== 'inspect')
      expect([name, withoutConfig(name)]).toEqual([name, flagsIn(help)]);
  }
});

const withoutConfig = (name: string) => repeatedFlags(name).filter((flag) => flag !== '--config');

/** The options of the place in this help. By `--config` the commands that do not serve mean what they try. */
function flagsIn(help: string): readonly string[] {
  const all = ['--address', '--namespace', '--task-queue', '--store', '--home', '--desk'];
  return all.filter((flag) => new RegExp(`^ {2}${flag} <`, 'm').test(help));
}

test('a line break in a help cuts neither a command nor the place of a page', async () => {
  const place = { invocation: 'npx holdfast', docs: 'node_modules/holdfast/docs' };
  for (const name of COMMAND_NAMES) {
    const help = await saidBy([name, '--help'], place.invocation, place.docs);
    const words = help.replaceAll(/\s+/g, ' ');
    // Of the package, of a command without what runs it, or of one with it twice.
    const bare = `(?<!npx |[./-])holdfast (?:${COMMAND_NAMES.join('|')})\\b`;
    const cut = new RegExp(`in the package|npx npx|${bare}`).exec(words)?.[0];
    expect([name, cut]).toEqual([name, undefined]);
  }
  const help = await saidBy(['eval', '--help'], place.invocation, place.docs);
  expect(help.replaceAll(/\s+/g, ' ')).toContain(
    `${place.docs}/guide/cases.md tells how to get it from Maven Central`,
  );
});

test('help names the commands so', async () => {
  const help = await saidBy(['show', '--help'], 'npx holdfast');
  expect(help).toContain('Usage: npx holdfast show');
  expect(help).toMatch(/\$ npx holdfast show /);
});

test('cards, remarks and hints do, and no text of a user', () => {
  const said = { out: '', err: '' };
  const output = createOutput(
    { out: (text) => void (said.out += text), err: (text) => void (said.err += text) },
    { json: false, colour: false, invocation: 'npx holdfast' },
  );
  const ask: AskView = {
    askId: 'r:1',
    kind: 'approval',
    tool: 'pay',
    args: { note: 'holdfast show r' },
    argsHash: 'h',
    roles: [],
    quorum: 1,
    policyVersion: '1',
    openedAt: 0,
    expiresAt: 1,
  };
  output.line(approvalCard(ask, { runId: 'r', now: 0, paint: output.paint }));
  output.line('holdfast show r');
  output.remark('Events: holdfast watch r');
  output.failure(new HoldfastError('RunNotFound', 'gone', { hint: 'See `holdfast list`.' }));
  expect(said.out).toContain('│ npx holdfast approve r:1 --as NAME');
  expect(said.out).toContain('"note": "holdfast show r"');
  expect(said.out).toMatch(/^holdfast show r$/m);
  expect(said.err).toBe('Events: npx holdfast watch r\nError: gone\nSee `npx holdfast list`.\n');
});
