import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { withSession } from '../../../cli/session.js';
import { commandHints } from '../../../cli/desk/actor.js';
import { givenBy } from '../../../cli/environment.js';
import { approvalCard, asCalled, PLAIN } from '../../../cli/render/index.js';
import type { Cli } from '../../../cli/command.js';
import { compiledPath } from '../../compiled.js';
import type { AskView } from '../../../core/state/ask-view.js';

const ask = {
  askId: 'run:1',
  kind: 'budget',
  argsHash: 'h',
  roles: ['boss'],
  quorum: 1,
  policyVersion: '0',
  openedAt: 0,
  expiresAt: 1,
} as unknown as AskView;

async function hintsFor(
  variables: Readonly<Record<string, string>>,
  options: object = {},
  folder = '/nowhere',
) {
  const environment = { variables, folder, colour: false, interactive: false };
  const cli = { environment } as unknown as Cli;
  const { first, ...hints } = await withSession(environment, options, (session) =>
    commandHints(cli, session),
  );
  const own = asCalled('holdfast', givenBy('show', options, variables));
  const card = approvalCard(ask, { runId: 'run', now: 0, paint: { ...PLAIN, own }, ...hints });
  return { first, command: /holdfast (approve .*)$/m.exec(card)?.[1] };
}

test.each([
  [
    'in local development by name, at the same place',
    {},
    { store: '/s' },
    '--store /s run:1 --as NAME --role boss',
  ],
  [
    'with the token of local development by name',
    { HOLDFAST_TOKEN: 'hf_local_x' },
    {},
    'run:1 --as NAME --role boss',
  ],
  [
    'with any other token without a name',
    { HOLDFAST_TOKEN: 'jwt' },
    { desk: 'http://d' },
    '--desk http://d run:1',
  ],
  ['on a server elsewhere not by name', { HOLDFAST_ADDRESS: 'far.example:7233' }, {}, 'run:1'],
])('commands that answer are written %s', async (_, variables, options, words) => {
  const { command, first } = await hintsFor(variables, options);
  expect(command).toBe(`approve ${words}`);
  expect(first === undefined).toBe(!('HOLDFAST_ADDRESS' in variables));
});

test('commands that answer are written without a name where decisions must be signed', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'holdfast-hints-'));
  const authoring = JSON.stringify(compiledPath(join(__dirname, '../../../authoring/index.ts')));
  writeFileSync(
    join(folder, 'holdfast.config.ts'),
    `import { defineAgent, defineConfig } from ${authoring};
     export default defineConfig({
       agents: [defineAgent({ name: 'a', model: 'scripted/x', instructions: 'Help.' })],
       defaults: { settings: { requireProof: true } },
     });`,
  );
  const { command, first } = await hintsFor({}, {}, folder);
  expect(command).toBe('approve run:1');
  expect(first).toContain('requireProof in holdfast.config.ts');
  rmSync(folder, { recursive: true });
});
