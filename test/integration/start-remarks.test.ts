/** `holdfast start` tells what the start names in vain: nobody else tells whoever starts a run. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { compiledPath } from '../compiled.js';
import { holdfastAt } from './support/cli-at.js';
import { startWorld, type World } from './support/world.js';

let world: World;
let folder: string;

beforeAll(async () => {
  world = await startWorld({ worker: false });
  await world.client.ensureNamespaceReady();
  folder = mkdtempSync(join(tmpdir(), 'holdfast-start-'));
  const authoring = JSON.stringify(compiledPath(join(__dirname, '../../authoring/index.ts')));
  writeFileSync(
    join(folder, 'holdfast.config.ts'),
    `import { defineAgent, defineConfig } from ${authoring};
     export default defineConfig({
       agents: [defineAgent({ name: 'desk', model: 'scripted/x', instructions: 'Help.' })],
     });`,
  );
  const task = { goal: 'Serve.', forbiddenActions: ['refnd'] };
  writeFileSync(join(folder, 'task.json'), JSON.stringify(task));
});
afterAll(async () => {
  await world.stop();
  rmSync(folder, { recursive: true });
});

test.each([
  [
    'of an agent of the configuration is told',
    'desk',
    /^The start: task\.forbiddenActions\[0\] is/,
  ],
  ['of another agent is not', 'other', /^$/],
])('a name that matches no tool, in a start %s', async (_, agent, told) => {
  const { address, namespace } = world.place;
  const at = { folder, address, variables: { HOLDFAST_NAMESPACE: namespace ?? 'default' } };
  const words = ['start', agent, '--file', 'task.json', '--no-wait', '--run-id', `of-${agent}`];
  const { code, out, err } = await holdfastAt(at, words);
  expect({ code, out }).toEqual({ code: 0, out: `of-${agent}\n` });
  expect(err).toMatch(told);
});
