import { chainAt, conversationAt, conversationOf } from '../../activities/model/model-request.js';
import type { ToolOffer, TranscriptNode } from '../../core/state/transcript.js';
import { openStore, type Store } from '../../store/store.js';
import { modelInput } from './setup.js';

const TURNS = 20;
const TENANT = modelInput('').run.tenant;

function said(parent: string, turn: number, text: string): TranscriptNode {
  const role = turn % 2 === 0 ? 'user' : 'assistant';
  return { v: 1, parent, role, messageId: `m${turn}`, blocks: [{ type: 'text', text }] };
}

function rootOf(name: string): TranscriptNode {
  const blocks = [{ type: 'text', text: name }] as const;
  return { v: 1, parent: null, role: 'root', messageId: name, blocks, tools: [] };
}

async function textsAt(store: Store, head: string): Promise<readonly string[]> {
  const { request } = await conversationAt(store, modelInput(head), head);
  return request.messages.flatMap(({ blocks }) =>
    blocks.map((block) => (block.type === 'text' ? block.text : block.type)),
  );
}

test.each(['texts that lie in their messages', 'a text of the store among them'])(
  'a conversation that grows, branches and goes back is told whole each time: %s',
  async (kind) => {
    const store = await openStore({ file: ':memory:' });
    const long = await store.putBlob(TENANT, 'long');
    let head = await store.putNode(TENANT, rootOf('root'));
    const heads: string[] = [];
    const texts: string[] = [];
    for (let turn = 0; turn < TURNS; turn += 1) {
      const isLong = kind.startsWith('a text') && turn === TURNS / 2;
      const node = said(head, turn, `word ${turn}`);
      head = await store.putNode(
        TENANT,
        isLong ? { ...node, blocks: [{ type: 'text', text: long }] } : node,
      );
      heads.push(head);
      texts.push(isLong ? 'long' : `word ${turn}`);
      expect(await textsAt(store, head)).toEqual(texts);
      // Somebody else goes on from an earlier message, and asks in between.
      if (turn % 3 === 2) {
        const other = await store.putNode(TENANT, said(heads[turn - 2]!, turn, 'other'));
        expect(await textsAt(store, other)).toEqual([...texts.slice(0, turn - 1), 'other']);
        expect(await textsAt(store, heads[turn - 1]!)).toEqual(texts.slice(0, turn));
      }
    }
    await store.close();
  },
);

test('a summary that leaves turns out, and the conversation that it stands for, are never taken for each other', async () => {
  const store = await openStore({ file: ':memory:' });
  let head = await store.putNode(TENANT, rootOf('root'));
  const texts: string[] = [];
  for (let turn = 0; turn < 7; turn += 1) {
    head = await store.putNode(TENANT, said(head, turn, `word ${turn}`));
    texts.push(`word ${turn}`);
  }
  const { root, nodes } = await chainAt(store, TENANT, head);
  const asked = [nodes[0]!, ...nodes.slice(5)];
  const summarized = async (): Promise<unknown> => {
    const { request } = await conversationOf(store, modelInput(head), { root, nodes: asked });
    return request.messages.flatMap(({ blocks }) => blocks);
  };
  const wanted = ['word 0', 'word 5', 'word 6'].map((text) => ({ type: 'text', text }));
  expect(await summarized()).toEqual(wanted);
  expect(await textsAt(store, head)).toEqual(texts);
  expect(await summarized()).toEqual(wanted);
  await store.close();
});

const PICTURE = {
  $blob: 'a'.repeat(64),
  bytes: 8,
  preview: '',
  mediaType: 'image/png',
} as const;

test('an attachment and a container are found wherever they lie in a conversation that grew before them and after them', async () => {
  const store = await openStore({ file: ':memory:' });
  let head = await store.putNode(TENANT, rootOf('root'));
  const { run, route } = modelInput(head);
  const seen: unknown[] = [];
  for (let turn = 0; turn < 9; turn += 1) {
    const node = said(head, turn, `word ${turn}`);
    const attached = { ...node, blocks: [{ type: 'attachment', attachment: PICTURE } as const] };
    const contained = {
      ...node,
      messageId: `${run.runId}:m${turn}`,
      origin: { model: route.model, route: route.name, call: turn },
      container: { id: 'box', expiresAt: 1 },
    };
    head = await store.putNode(TENANT, turn === 3 ? contained : turn === 4 ? attached : node);
    const { request } = await conversationAt(store, modelInput(head), head);
    seen.push([
      request.container?.id,
      JSON.stringify(request.messages[4]?.blocks ?? '').includes('is not shown'),
    ]);
  }
  await store.close();
  const grown = (turn: number) => [turn < 3 ? undefined : 'box', turn >= 4];
  expect(seen).toEqual(Array.from({ length: 9 }, (_, turn) => grown(turn)));
});

const OFFERS: readonly ToolOffer[] = ['one', 'two', 'three'].map((name) => ({
  name,
  version: '1',
  wireName: name,
  description: name,
  inputSchema: {},
  ...(name === 'three' && { hosted: { provider: 'elsewhere', declaration: { type: 'x' } } }),
}));

test('requests with the same tools have one list of them, by which providers know what they have said before', async () => {
  const store = await openStore({ file: ':memory:' });
  const root = await store.putNode(TENANT, { ...rootOf('root'), tools: OFFERS });
  const toolsOf = async (offered: readonly string[] | undefined) => {
    const input = { ...modelInput(root), ...(offered !== undefined && { offered }) };
    return (await conversationAt(store, input, root)).request.tools;
  };
  const wanted = [
    [undefined, 'one,two'],
    [['two'], 'two'],
    [['one', 'two'], 'one,two'],
  ] as const;
  for (const [offered, names] of wanted) {
    const tools = await toolsOf(offered);
    expect(tools.map(({ name }) => name).join()).toBe(names);
    expect(await toolsOf(offered && [...offered])).toBe(tools);
  }
  for (let many = 0; many < 40; many += 1) await toolsOf(['one', `gone-${many}`]);
  expect((await toolsOf(['two'])).map(({ name }) => name)).toEqual(['two']);
  await store.close();
});
