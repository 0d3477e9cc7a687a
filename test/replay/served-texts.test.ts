/** Bundles have what servers of connectors said of the tools that runs had pinned. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { digestOf, type Json } from '../../core/json/json.js';
import { gatherReferred } from '../../replay/gather.js';
import { IN_MEMORY } from '../../replay/redaction/recorded.js';
import { referencesIn } from '../../replay/references.js';
import { spoolOf } from '../../replay/stream/bundle-spool.js';
import { shelvedConversation } from '../../replay/stream/shelved-conversation.js';
import { openMemoryStore, type MemoryStore } from '../../store/store.js';

const TENANT = 'default';
const FIND = {
  name: 'find',
  description: 'Finds.',
  inputSchema: { type: 'object' },
  outputSchema: { type: 'object', properties: { name: { type: 'string' } } },
} satisfies Json;
const HASH = digestOf(FIND);

let store: MemoryStore;
let folder: string;
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'holdfast-served-'));
  store = await openMemoryStore();
  await keep({ name: 'mcp__crm__find', version: '1+a' }, HASH, FIND);
});
afterEach(async () => {
  await store.close();
  rmSync(folder, { recursive: true, force: true });
});

async function keep(tool: { name: string; version: string }, hash: string, definition: Json) {
  const pinned = JSON.stringify({ record: {}, definition });
  const seen = { tenant: TENANT, connector: 'crm', at: 1 };
  await store.meetTools({ ...seen, tools: [{ ...tool, hash, pinned }] });
}

/** As the opening of a run has it. */
function frozen(changes: object = {}, mcp: object = {}): Json {
  const tool = { connector: 'crm', tool: 'find', hash: HASH, ...mcp };
  const record = { name: 'mcp__crm__find', version: '1+a', kind: 'mcp', mcp: tool, ...changes };
  return { frozen: { tools: [record] } } as unknown as Json;
}

/** By each of the ways in which a bundle is made. */
async function blobsOf(
  values: readonly Json[],
): Promise<readonly Readonly<Record<string, string>>[]> {
  const references = referencesIn(values);
  const spool = await spoolOf({ store, tenant: TENANT, folder, look: () => undefined });
  spool.refer(references);
  const spooled: Record<string, string> = {};
  for await (const { hash, form } of spool.blobs()) {
    let text = '';
    for await (const piece of form) text += piece;
    spooled[hash] = JSON.parse(text) as string;
  }
  await spool.close();
  const place = { store, tenant: TENANT, shelf: IN_MEMORY };
  const shelved: Record<string, string> = {};
  for await (const [hash, text] of (await shelvedConversation(place, [references])).blobs)
    shelved[hash] = text;
  return [(await gatherReferred(store, TENANT, values)).blobs, spooled, shelved];
}

test('the definition of a pinned tool lies under its hash, as a large text does', async () => {
  for (const blobs of await blobsOf([frozen()])) {
    expect(Object.keys(blobs)).toEqual([HASH]);
    expect(JSON.parse(blobs[HASH]!)).toEqual(FIND);
  }
});

test.each([
  ['a tool that the store never met', frozen({ version: '1+b' })],
  ['a hash of another description', frozen({}, { hash: 'f'.repeat(64) })],
  ['a name that no store takes, written by a model', frozen({ name: 'a\0b' })],
  ['half of a character', frozen({ version: 'x\ud800' })],
  ['a name without end', frozen({ name: 'x'.repeat(10_000) })],
  ['what only looks like one', frozen({}, { hash: 7 })],
])('%s is left out, and the bundle is made', async (_, value) => {
  for (const blobs of await blobsOf([value])) expect(blobs).toEqual({});
});

test('what the store has under another hash than it has itself is left out', async () => {
  await keep({ name: 'mcp__crm__odd', version: '1+c' }, HASH, { ...FIND, description: 'Lies.' });
  const odd = frozen({ name: 'mcp__crm__odd', version: '1+c' });
  for (const blobs of await blobsOf([odd])) expect(blobs).toEqual({});
});
