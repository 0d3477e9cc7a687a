/** Globals that the code of workflows takes once, so that no look at one leaves the engine. */
import { readFileSync } from 'node:fs';
import { interceptedBundle, workflowBundle } from '../../worker/workflow-code.js';

async function head(): Promise<string> {
  const bundle = await workflowBundle();
  const code = 'code' in bundle ? bundle.code : readFileSync(bundle.codePath, 'utf8');
  return code.slice(0, code.indexOf('\n'));
}

async function knownGlobals(): Promise<readonly string[]> {
  const [, names = ''] = /const \{ ([\w, ]+) \} = globalThis;/.exec(await head()) ?? [];
  return names.split(', ');
}

test('the code of workflows takes the globals that decisions look at, before anything else of it runs', async () => {
  expect(await knownGlobals()).toEqual(
    expect.arrayContaining(['Array', 'JSON', 'Map', 'Math', 'Object', 'Set']),
  );
  expect(await head()).toMatch(/^globalThis\.Error\.stackTraceLimit = 0; const /);
});

test('none of them is one that Temporal replaces in the sandbox', async () => {
  const sources = [
    '@temporalio/workflow/lib/global-overrides',
    '@temporalio/worker/lib/workflow/vm-shared',
  ]
    .map((path) => readFileSync(require.resolve(path), 'utf8'))
    .join('\n');
  expect(sources).toMatch(/\bglobal\.Date = /);
  const replaced = (name: string): boolean =>
    new RegExp(`\\b(?:global|globalThis|context|globals)\\.${name} =`).test(sources);
  expect(['Date', 'WeakRef', ...(await knownGlobals())].filter(replaced)).toEqual([
    'Date',
    'WeakRef',
  ]);
});

test('code of others beside it takes its globals where it finds them, and keeps its lines', async () => {
  const { code } = await interceptedBundle([require.resolve('../../workflows/started-tasks.ts')]);
  expect(code).not.toContain('} = globalThis; var __TEMPORAL__');
  expect(code).toMatch(/^\/\*{3}\/ /m);
});
