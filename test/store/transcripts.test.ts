import { digestOf, type Json } from '../../core/json/json.js';
import type { TranscriptNode } from '../../core/state/transcript.js';
import { chainCache } from '../../store/chain-cache.js';
import type { Store } from '../../store/store.js';
import { cleanUp, newStore } from './fixtures.js';

afterAll(cleanUp);

function message(parent: string | null, text: string): TranscriptNode {
  return {
    v: 1,
    parent,
    role: parent === null ? 'root' : 'user',
    messageId: `r1:${text}`,
    blocks: [{ type: 'text', text }],
  };
}

async function putChain(store: Store, length: number): Promise<string[]> {
  const hashes: string[] = [];
  for (let index = 0; index < length; index += 1) {
    hashes.push(await store.putNode('t', message(hashes.at(-1) ?? null, `m${index}`)));
  }
  return hashes;
}

test('a node is stored under the sha256 of its RFC 8785 form, whatever the order of its keys', async () => {
  const { store } = await newStore();
  const node = message(null, 'hello \ud800');
  const hash = await store.putNode('t', node);
  expect(hash).toBe(digestOf(node as unknown as Json));
  const reordered = Object.fromEntries(Object.entries(node).reverse()) as unknown as TranscriptNode;
  expect(await store.putNode('t', reordered)).toBe(hash);
  expect(await store.readChain('t', hash)).toEqual([{ ...node, hash }]);
});

test('a chain is read from root to head, by a fresh process as by the one that wrote it', async () => {
  const { store, place } = await newStore();
  const hashes = await putChain(store, 30);
  const { store: fresh } = await newStore(place);
  for (const reader of [store, fresh]) {
    const chain = await reader.readChain('t', hashes[29] ?? '');
    expect(chain.map((node) => node.hash)).toEqual(hashes);
    expect(chain.map((node) => node.messageId)).toEqual(hashes.map((_, index) => `r1:m${index}`));
  }
});

test('heads that share a beginning are both complete', async () => {
  const { store, place } = await newStore();
  const [root = '', fork = ''] = await putChain(store, 2);
  const left = await store.putNode('t', message(fork, 'left'));
  const right = await store.putNode('t', message(fork, 'right'));
  const { store: fresh } = await newStore(place);
  for (const reader of [store, fresh]) {
    for (const head of [left, right, fork]) {
      const chain = await reader.readChain('t', head);
      expect(chain.map((node) => node.hash)).toEqual([...new Set([root, fork, head])]);
    }
  }
});

test('a node without its parent is refused, and a missing head is a typed error with the remedy', async () => {
  const { store } = await newStore();
  const missing = {
    code: 'TranscriptMissing',
    hint: expect.stringContaining('Restore'),
    details: { hash: 'a'.repeat(64) },
  };
  await expect(store.putNode('t', message('a'.repeat(64), 'x'))).rejects.toMatchObject(missing);
  await expect(store.readChain('t', 'a'.repeat(64))).rejects.toMatchObject(missing);
});

test('another tenant sees nothing of a chain, also not through the cache', async () => {
  const { store } = await newStore();
  const [head = ''] = await putChain(store, 1);
  await store.readChain('t', head);
  await expect(store.readChain('other', head)).rejects.toMatchObject({ code: 'TranscriptMissing' });
  await expect(store.putNode('other', message(head, 'x'))).rejects.toMatchObject({
    code: 'TranscriptMissing',
  });
});

test('a chain of 1,000 nodes is extended at less than what reading it cold costs', async () => {
  const { store, place } = await newStore();
  const putStarted = performance.now();
  const hashes = await putChain(store, 1000);
  const perPutMs = (performance.now() - putStarted) / 1000;
  const { store: fresh } = await newStore(place);
  const coldStarted = performance.now();
  expect(await fresh.readChain('t', hashes[999] ?? '')).toHaveLength(1000);
  const coldMs = performance.now() - coldStarted;
  // The least of a few: a single one may meet whatever else the machine does.
  let newest = hashes[999] ?? '';
  let nextMs = Number.POSITIVE_INFINITY;
  for (let n = 1; n <= 5; n += 1) {
    newest = await store.putNode('t', message(newest, `newest ${n}`));
    const nextStarted = performance.now();
    expect(await fresh.readChain('t', newest)).toHaveLength(1000 + n);
    nextMs = Math.min(nextMs, performance.now() - nextStarted);
  }
  console.info(
    `put ${perPutMs.toFixed(2)} ms a node, cold ${coldMs.toFixed(1)} ms, next ${nextMs.toFixed(2)} ms`,
  );
  expect(nextMs).toBeLessThan(coldMs);
});

test('the cache forgets the least recently used chain when it is full by count or by size', () => {
  const cache = chainCache({ chainsMax: 2, charsMax: 100 });
  const chain = (hash: string, chars: number) => ({
    nodes: [{ ...message(null, hash), hash }],
    chars,
  });
  cache.put('t', chain('a', 1));
  cache.put('t', chain('b', 1));
  cache.get('t', 'a');
  cache.put('t', chain('c', 1));
  expect(['a', 'b', 'c'].map((hash) => cache.get('t', hash) !== undefined)).toEqual([
    true,
    false,
    true,
  ]);
  cache.put('t', chain('d', 99));
  expect(['a', 'c', 'd'].map((hash) => cache.get('t', hash) !== undefined)).toEqual([
    false,
    true,
    true,
  ]);
  cache.put('t', chain('e', 101));
  expect(cache.get('t', 'e')).toBeUndefined();
});

test('A conversation is read back from its head, page by page, as it is stored; a page that lacks a node is refused.', async () => {
  const { store } = await newStore();
  const hashes = await putChain(store, 7);
  const read: string[] = [];
  for (let next: string | null = hashes.at(-1)!; next !== null;) {
    const page = await store.readBack('t', next, 3);
    expect(page.length).toBeLessThanOrEqual(3);
    for (const { hash, parent, body } of page) {
      expect(digestOf(JSON.parse(body) as Json)).toBe(hash);
      read.unshift(hash);
      next = parent;
    }
  }
  expect(read).toEqual(hashes);
  await expect(store.readBack('t', 'f'.repeat(64), 3)).rejects.toMatchObject({
    code: 'TranscriptMissing',
  });
});
