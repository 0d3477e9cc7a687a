/** Requests of a record: what is remembered of its conversations changes none of them. */
import { canonicalJson, sha256Hex, type Json } from '../../core/json/json.js';
import type { CallModelInput } from '../../core/state/effect.js';
import { requestBegunAt } from '../../recording/moment-view.js';
import { foldOf } from '../../recording/fold.js';
import type { Bundle } from '../../replay/bundle.js';
import { recordedRequest } from '../../replay/recorded-request.js';
import { stored } from './setup.js';

let input: CallModelInput;
let nodes: { [hash: string]: Bundle['nodes'][string] };
let root: string;
beforeAll(async () => {
  const approved = await stored('approved');
  const fold = foldOf(approved);
  input = fold.steps.flatMap(({ step }) => requestBegunAt(fold, step) ?? [])[0]!;
  const [hash, node] = Object.entries(approved.nodes).find(([, { role }]) => role === 'root')!;
  nodes = { [hash]: node };
  root = hash;
});

function grown(from: string, texts: readonly string[]): readonly string[] {
  let parent = from;
  return texts.map((text) => {
    const blocks = [{ type: 'text', text }];
    const node = { v: 1, parent, role: 'user', messageId: `m-${text}`, blocks };
    parent = sha256Hex(canonicalJson(node as unknown as Json));
    nodes[parent] = node;
    return parent;
  });
}

const numbered = (word: string, count: number) =>
  Array.from({ length: count }, (_, n) => `${word} ${n}`);

test('are the same in whatever order they are looked at, on long conversations that part', async () => {
  const trunk = grown(root, numbered('said', 60));
  const branch = grown(trunk[29]!, numbered('else', 60));
  const append = [{ kind: 'user', messageId: 'm-own', content: { text: 'own' } }] as const;
  const told = { kind: 'user', messageId: 'm-said 40', content: { text: 'said 40' } } as const;
  const bundle = { nodes, blobs: {} };
  const places = [
    ...[trunk[3], trunk[59], trunk[20], branch[59], trunk[45], branch[2], trunk[59], trunk[29]].map(
      (head) => ({ head: head!, append: [] }),
    ),
    { head: trunk[39]!, append },
    // What the record has as a message of its own.
    { head: trunk[39]!, append: [told] },
    { head: branch[59]!, append },
    { head: trunk[40]!, append: [] },
  ];
  for (const place of [...places, ...places.toReversed()]) {
    const asked = { ...input, ...place };
    const alone = await recordedRequest({ nodes: structuredClone(nodes), blobs: {} }, asked);
    expect(await recordedRequest(bundle, asked)).toEqual(alone);
  }
  const texts = async (head: string) => {
    const { messages } = await recordedRequest(bundle, { ...input, head, append: [] });
    return messages.map(({ blocks }) => (blocks[0] as { text: string }).text);
  };
  expect(await texts(branch[1]!)).toEqual([...numbered('said', 30), 'else 0', 'else 1']);
  expect(await texts(trunk[59]!)).toEqual(numbered('said', 60));
});
