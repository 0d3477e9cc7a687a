import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { withSession } from '../../../cli/session.js';
import { commandHints } from '../../../cli/desk/actor.js';
import { givenBy } from '../../../cli/environment.js';
import { approvalCard, asCalled, PLAIN } from '../../../cli/render/index.js';
import type { Cli } from '../../../cli/command.js';
import { compiledPath } from '../../compiled.js';
import { openStore } from '../../../store/store.js';
import { holdfastAt } from '../../integration/support/cli-at.js';
import { askView, eventsFrom, SESSION_INIT } from '../../store/fixtures.js';
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
  agents: readonly string[] = ['a'],
) {
  const environment = { variables, folder, colour: false, interactive: false };
  const cli = { environment } as unknown as Cli;
  const { first, ...hints } = await withSession(environment, options, (session) =>
    commandHints(cli, session)({ runId: 'run', agents }),
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

describe('where decisions must be signed', () => {
  let folder: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'holdfast-hints-'));
  });
  afterEach(() => rmSync(folder, { recursive: true }));

  const configure = (settings: string): void => {
    const authoring = JSON.stringify(compiledPath(join(__dirname, '../../../authoring/index.ts')));
    writeFileSync(
      join(folder, 'holdfast.config.ts'),
      `import { defineAgent, defineConfig } from ${authoring};
       const of = { model: 'scripted/x', instructions: 'Help.' };
       export default defineConfig({
         agents: [
           defineAgent({ ...of, name: 'a' }),
           defineAgent({ ...of, name: 'strict', settings: { requireProof: true } }),
         ],
         ${settings}
       });`,
    );
  };

  test('by every agent, commands that answer are written without a name', async () => {
    configure('defaults: { settings: { requireProof: true } },');
    const { command, first } = await hintsFor({}, {}, folder);
    expect(command).toBe('approve run:1');
    expect(first).toContain('decisions here count with a signature');
    expect(first).toContain('requireProof in holdfast.config.ts');
  });

  test('by one agent, commands are written without a name for its runs alone, and for those below them', async () => {
    configure('');
    expect(await hintsFor({}, {}, folder)).toEqual({
      command: 'approve run:1 --as NAME --role boss',
    });
    for (const path of [['strict'], ['strict', 'a'], ['a', 'strict']]) {
      const { command, first } = await hintsFor({}, {}, folder, path);
      expect(command).toBe('approve run:1');
      expect(first).toContain('decisions on runs of the agent strict count with a signature');
    }
  });

  test('by one agent, the store says whose run asks', async () => {
    configure('');
    const store = await openStore({ file: join(folder, 'store.db') });
    for (const [runId, agent] of [
      ['run-a', 'a'],
      ['run-strict', 'strict'],
    ] as const) {
      const asked = { type: 'approval_requested', ...askView(`${runId}:0`) } as const;
      const source = { tenant: 'default', runId, execution: 'e' };
      await store.appendEvents(
        source,
        eventsFrom(0, [{ ...SESSION_INIT, agent } as typeof SESSION_INIT, asked]),
      );
    }
    const goal = { tenant: 'default', runId: 'run-goal', execution: 'e' };
    const objective = { text: 'All paid.' };
    const started = { type: 'goal_started', agent: 'strict', objective, definition: 'd' } as const;
    const more = { maxCostMicroUsd: 1, pace: 'continuous', versions: {} } as const;
    const asked = { type: 'approval_requested', ...askView('run-goal:g1') } as const;
    await store.appendEvents(goal, eventsFrom(0, [{ ...started, ...more }, asked]));
    await store.close();
    const cards = async (...words: readonly string[]) => {
      const at = { folder, address: '127.0.0.1:1' };
      const { out, err } = await holdfastAt(at, words);
      const commands = [...out.matchAll(/holdfast approve .* (run-\S+)(.*)$/gm)];
      const named = commands.map(
        ([, askId, how]) => `${askId}${how?.includes('--as') ? ' by name' : ''}`,
      );
      return { named, err };
    };
    const listed = await cards('approvals');
    expect(listed.named.toSorted()).toEqual(['run-a:0 by name', 'run-goal:g1', 'run-strict:0']);
    expect(listed.err).toContain('runs of the agent strict');
    expect(await cards('show', 'run-a')).toEqual({ named: ['run-a:0 by name'], err: '' });
    expect((await cards('show', 'run-strict')).named).toEqual(['run-strict:0']);
    const ofGoal = await cards('goal', 'show', 'run-goal');
    expect(ofGoal.named).toEqual(['run-goal:g1']);
    expect(ofGoal.err).toContain('runs of the agent strict');
  }, 60_000);
});
