/** Arguments are hidden in runs of several segments too: what one segment hands to the next names calls by digests of them. */
import { keptHistories, readKept } from '../../lab/seal/kept-histories.js';
import { bundleText } from '../../replay/bundle.js';
import { digestRenames } from '../../replay/digest-renames.js';
import { redactBundle } from '../../replay/redaction/redact-bundle.js';
import { parseRules } from '../../replay/redaction/rules.js';
import { replayTree } from '../../replay/replay-tree.js';
import { documentValues } from './setup.js';

test('a run that waited in a new segment replays with its arguments hidden', async () => {
  const kept = keptHistories().find(({ file }) => file.includes('waits-anew-approved'))!;
  const bundle = readKept(kept);
  expect(bundle.segments).toHaveLength(2);
  const rules = parseRules({ rules: [{ name: 'items', key: 'item' }] }, 'rules.json');
  const redacted = await redactBundle(bundle, rules);
  const content = JSON.stringify(await documentValues(redacted)) + bundleText(redacted);
  expect(content).not.toContain('item-0-0');
  expect(await replayTree(redacted)).toMatchObject({ equal: true });
});

const [A, B, C] = ['a1', 'b2', 'c3'].map((two) => `a${two.repeat(6)}`) as [string, string, string];

test.each([
  ['a value', { by: A, n: 1 }, { by: B, n: 1 }, [[A, B]]],
  ['a name', { [A]: 1, x: [C] }, { [B]: 1, x: [C] }, [[A, B]]],
  [
    'two names in their order',
    { [A]: 1, [B]: 2 },
    { [C]: 1, [`${C}0`]: 2 },
    [
      [A, C],
      [B, `${C}0`],
    ],
  ],
  ['a count beside the name', { [A]: 1 }, { [B]: 2 }, undefined],
  ['a name more', { [A]: 1 }, { [B]: 1, [C]: 1 }, undefined],
  ['a name that is no digest', { mia: 1 }, { bo: 1 }, undefined],
  ['a text', { by: A, text: 'one' }, { by: B, text: 'two' }, undefined],
] as const)(
  '%s that differs: what stands for what is told where digests alone differ',
  (_what, recorded, replayed, renames) => {
    expect(digestRenames(recorded as never, replayed as never)).toEqual(renames);
  },
);
