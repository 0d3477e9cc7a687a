/** The folder that an agent begins with: copied once, bounded, without links. */
import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { seedFolder } from '../../activities/run/seed-folder.js';
import { defineAgent, defineConfig } from '../../authoring/index.js';
import { folderOf, FOLDER_LIMITS, type FolderEntries } from '../../pure/work-folder/entry.js';
import { openMemoryStore, type MemoryStore } from '../../store/store.js';
import { startSimulation } from '../../testing/simulation/index.js';

const RUN = { tenant: 'default', runId: 'seeded', traceId: 'seeded' };
const OWNER = { tenant: 'default', owner: 'seeded' };

let store: MemoryStore;
let seed: string;
beforeEach(async () => {
  store = await openMemoryStore();
  seed = mkdtempSync(join(tmpdir(), 'holdfast-seed-'));
  mkdirSync(join(seed, 'src'));
  mkdirSync(join(seed, 'empty'));
  writeFileSync(join(seed, 'src', 'main.js'), 'print()');
  writeFileSync(join(seed, 'run.sh'), 'echo');
  chmodSync(join(seed, 'run.sh'), 0o755);
});
afterEach(async () => {
  rmSync(seed, { recursive: true, force: true });
  await store.close();
});

async function entries(): Promise<FolderEntries> {
  const { hash = '' } = await store.folderHead(OWNER);
  return folderOf(await store.getText('default', { $blob: hash, bytes: 0, preview: '' }))!;
}

test('its files are the first version of the work folder, with their contents', async () => {
  await seedFolder({ store }, RUN, seed);
  const found = await entries();
  expect([...found.keys()].toSorted()).toEqual(['empty', 'run.sh', 'src/main.js']);
  const main = found.get('src/main.js');
  expect(found.get('run.sh')).toMatchObject({ kind: 'file', runs: true });
  if (main?.kind !== 'file') throw new Error('no file');
  const contents = await store.getContents('default', [main.hash]);
  expect(contents.get(main.hash)?.toString()).toBe('print()');
});

test('a folder that has a version is not seeded again, and an agent without a seed begins with nothing', async () => {
  await seedFolder({ store }, RUN, seed);
  const before = await store.folderHead(OWNER);
  writeFileSync(join(seed, 'later.txt'), 'later');
  await seedFolder({ store }, RUN, seed);
  expect(await store.folderHead(OWNER)).toEqual(before);
  await seedFolder({ store }, { ...RUN, runId: 'plain' }, undefined);
  expect(await store.folderHead({ ...OWNER, owner: 'plain' })).toEqual({ version: 0 });
});

test.each([
  ['a link', () => symlinkSync('/etc/passwd', join(seed, 'out')), 'neither a file nor a folder'],
  [
    'a link to a folder',
    () => symlinkSync('/etc', join(seed, 'etc')),
    'neither a file nor a folder',
  ],
  [
    'a name with a line break',
    () => writeFileSync(join(seed, 'a\nb'), 'x'),
    'has a control character',
  ],
  [
    'a file that is too large',
    () => {
      writeFileSync(join(seed, 'large'), '');
      truncateSync(join(seed, 'large'), FOLDER_LIMITS.fileBytes + 1);
    },
    'a file of more than',
  ],
  ['no folder', () => rmSync(seed, { recursive: true }), 'ENOENT'],
])('%s refuses the run, and nothing is kept', async (_, make, words) => {
  make();
  await expect(seedFolder({ store }, RUN, seed)).rejects.toMatchObject({
    code: 'InvalidTask',
    message: expect.stringContaining(words) as string,
  });
  expect(await store.folderHead(OWNER)).toEqual({ version: 0 });
});

test('a seed is the path of a folder, and nothing else stands beside it', () => {
  const agent = { name: 'coder', model: 'scripted/model', instructions: 'Code.' };
  expect(defineAgent({ ...agent, sandbox: { seed } }).seed).toBe(seed);
  for (const sandbox of [{ seed: 7 }, { seed: '' }, { other: 1 }, 'x'] as never[]) {
    expect(() => defineAgent({ ...agent, sandbox })).toThrow(
      expect.objectContaining({ code: 'InvalidAgent' }) as Error,
    );
  }
});

test.each(['a seed', 'a seed that is gone'])(
  'a run of an agent with %s begins with it, or is refused',
  async (what) => {
    if (what !== 'a seed') rmSync(seed, { recursive: true });
    const agent = { name: 'coder', model: 'scripted/model', instructions: 'Code.' };
    const opening = startSimulation({
      start: { v: 1, agent: 'coder', task: { goal: 'Code.' } },
      runId: RUN.runId,
      store,
      config: defineConfig({ agents: [defineAgent({ ...agent, sandbox: { seed } })] }),
      providers: new Map(),
      instead: ({ kind }) =>
        kind === 'call_model' ? Promise.reject(new Error('No model is asked.')) : undefined,
      onEvent: ({ type }) => {
        if (type === 'session_init') opening.send({ type: 'cancel_requested' });
      },
    });
    const final = await opening.finish();
    if (what === 'a seed') return expect([...(await entries()).keys()]).toContain('src/main.js');
    expect(final).toMatchObject({ kind: 'refused', code: 'InvalidTask' });
  },
);
