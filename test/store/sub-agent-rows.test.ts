import { openMemoryStore, type MemoryStore } from '../../store/store.js';
import type { ChildStart } from '../../store/children.js';

let store: MemoryStore;
beforeEach(async () => {
  store = await openMemoryStore();
});
afterEach(() => store.close());

const ROOM = { atOnce: 2, inAll: 3 };

function row(child: string, over: Partial<ChildStart> = {}): ChildStart {
  const parent = child.replace(/:a\d+$/, '');
  const path = ['desk', ...Array<string>(child.split(':a').length - 1).fill('auditor')];
  return {
    tenant: 'default',
    child,
    parent,
    n: Number(/\d+$/.exec(child)?.[0]),
    digest: 'd',
    start: '{}',
    place: { root: 'run', path, call: 'c' },
    ...over,
  };
}

test('A tree takes no more children than may be open at once, grandchildren among them.', async () => {
  expect(await store.registerChild(row('run:a1'), ROOM)).toBe('registered');
  expect(await store.registerChild(row('run:a1:a1'), ROOM)).toBe('registered');
  expect(await store.registerChild(row('run:a2'), ROOM)).toBe('crowded');
  await store.sealChild('default', 'run:a1:a1');
  expect(await store.registerChild(row('run:a2'), ROOM)).toBe('registered');
});

test('A tree takes no more children than it may ever have, and one that is there stays the same.', async () => {
  for (const child of ['run:a1', 'run:a2', 'run:a3']) {
    expect(await store.registerChild(row(child), ROOM)).toBe('registered');
    await store.sealChild('default', child);
  }
  expect(await store.registerChild(row('run:a4'), ROOM)).toBe('used_up');
  expect(await store.registerChild(row('run:a3'), ROOM)).toBe('same');
  expect(await store.registerChild(row('run:a3', { parent: 'other' }), ROOM)).toBe('taken');
});

test('The tree of a root lists parents before their children, with the agents on the way.', async () => {
  await store.registerChild(row('run:a1'), ROOM);
  await store.registerChild(row('run:a1:a1'), ROOM);
  const tree = await store.listTree('default', 'run');
  expect(tree.map(({ child }) => child)).toEqual(['run:a1', 'run:a1:a1']);
  expect(tree[1]?.place).toEqual({ root: 'run', path: ['desk', 'auditor', 'auditor'], call: 'c' });
});
