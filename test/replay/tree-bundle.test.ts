/** Bundles of trees: a kept goal with its cycle, as one file. What is no tree is refused with the reason. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { bundleText, type Bundle, type Member } from '../../replay/bundle.js';
import { parseBundle, readBundle } from '../../replay/read-bundle.js';
import { redactBundle } from '../../replay/redaction/redact-bundle.js';
import { replayTree } from '../../replay/replay-tree.js';
import { reportLines } from '../../replay/report-text.js';
import { memberOf } from '../../replay/tree.js';
import { toldTree } from '../../replay/told-tree.js';
import { treeDiffOf } from '../../recording/tree-diff.js';
import { runCli } from '../../cli/program.js';
import { expectReplays } from '../../testing/index.js';
import { argumentsOf, attributesOf, textAt } from '../../recording/history.js';
import { attributes, changed, payloads } from './setup.js';

const KEPT = join(__dirname, '..', '..', 'histories', 'rules-12');
const NAME = 'goal-changes-approved-brief';

let goal: Bundle;
let cycle: Bundle;
let tree: Bundle;
beforeAll(async () => {
  goal = await readBundle(join(KEPT, `${NAME}.json.gz`));
  cycle = await readBundle(join(KEPT, `${NAME}_c1.json.gz`));
  tree = treeOf(goal, cycle);
});

const folder = mkdtempSync(join(tmpdir(), 'holdfast-tree-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function memberFrom({ run, versions, segments, events }: Bundle, parent: string): Member {
  return { run, parent, versions, segments, events };
}

function treeOf(root: Bundle, below: Bundle): Bundle {
  return {
    ...root,
    nodes: { ...root.nodes, ...below.nodes },
    blobs: { ...root.blobs, ...below.blobs },
    members: [memberFrom(below, root.run.runId)],
  };
}

const read = (bundle: Bundle): Bundle => parseBundle(bundleText(bundle), 'tree.json');

function refusal(bundle: Bundle): string {
  try {
    read(bundle);
  } catch (error) {
    expect(error).toMatchObject({ name: 'HoldfastError', code: 'InvalidBundle' });
    return (error as Error).message;
  }
  throw new Error('it was read');
}

async function command(...words: readonly string[]) {
  let out = '';
  let err = '';
  const code = await runCli(words, {
    environment: { variables: {}, folder, colour: false, interactive: false },
    streams: { out: (text) => void (out += text), err: (text) => void (err += text) },
  });
  return { code, out, err };
}

test('A run alone is written in the form that older releases read, a tree in the next one.', () => {
  expect(JSON.parse(bundleText(goal))).toMatchObject({ v: 1 });
  expect(JSON.parse(bundleText(tree))).toMatchObject({ v: 2 });
  expect(read(tree)).toEqual(tree);
  expect(refusal({ ...goal, absent: [] })).toMatch(/members/);
});

test('All runs of a tree replay, and one that does not is named.', async () => {
  const whole = await replayTree(tree);
  expect(whole).toMatchObject({ equal: true, members: [{ runId: cycle.run.runId, equal: true }] });
  expect(reportLines(whole)).toEqual([
    expect.stringContaining(`${goal.run.runId} replays exactly`),
    expect.stringMatching(/^1 run below it: \d+ steps in all, equal/),
  ]);
  await expectReplays(tree);
  const other = changed(
    cycle,
    attributes('workflowExecutionCompleted', (given) => ({ ...given, result: payloads('other') })),
  );
  const report = await replayTree(treeOf(goal, other));
  expect(report).toMatchObject({ equal: false, differences: [], members: [{ equal: false }] });
  expect(reportLines(report).join('\n')).toContain(`${cycle.run.runId} does not replay`);
  await expect(expectReplays(treeOf(goal, other))).rejects.toMatchObject({ code: 'ReplayDiffers' });
});

test('Each run of a tree is found by its id or the end of it, and the tree is told.', () => {
  const { runId } = cycle.run;
  for (const name of [runId, 'c1', ':c1']) expect(memberOf(tree, name).run.runId).toBe(runId);
  expect(memberOf(tree, goal.run.runId).events).toBe(goal.events);
  expect(() => memberOf(tree, 'c2')).toThrow(
    expect.objectContaining({ code: 'RunNotFound', hint: expect.stringContaining(runId) }),
  );
  expect(toldTree(tree)).toMatchObject([
    { runId: goal.run.runId, depth: 0 },
    { runId, parent: goal.run.runId, depth: 1, status: expect.stringMatching(/\w/) },
  ]);
  expect(toldTree(goal)).toEqual([]);
});

test('The commands take a tree: replay, bundles, inspect of a member, diff, and alone.', async () => {
  const file = join(folder, 'tree.json');
  writeFileSync(file, bundleText(tree));
  const replayed = await command('replay', 'tree.json', '--json');
  expect([replayed.code, JSON.parse(replayed.out).members.length]).toEqual([0, 1]);
  const alone = await command('replay', 'tree.json', '--alone', '--json');
  expect(JSON.parse(alone.out)).not.toHaveProperty('members');
  expect((await command('bundles', folder)).code).toBe(0);
  const index = JSON.parse((await command('inspect', 'tree.json', '--json')).out);
  expect(index).toMatchObject({ runId: goal.run.runId, kind: 'goal', tree: toldTree(tree) });
  expect((await command('inspect', 'tree.json')).out).toContain(`  ${cycle.run.runId}  `);
  const member = await command('inspect', 'tree.json', '--run', 'c1', '--at', 'last', '--json');
  expect(JSON.parse(member.out)).toMatchObject({ runId: cycle.run.runId, kind: 'run' });
  expect(await command('inspect', 'tree.json', '--run', 'a9')).toMatchObject({
    code: 1,
    err: expect.stringContaining('There is no run a9 below'),
  });
  const same = await command('diff', 'tree.json', 'tree.json', '--json');
  expect([same.code, JSON.parse(same.out).below]).toEqual([
    0,
    [expect.objectContaining({ run: 'c1', equal: true })],
  ]);
  writeFileSync(join(folder, 'goal.json'), bundleText(goal));
  const missing = await command('diff', 'tree.json', 'goal.json');
  expect(missing).toMatchObject({ code: 1, out: expect.stringContaining('Only A has this run.') });
});

test('A difference below equal roots is found, and told apart from one of words alone.', () => {
  const side = (events: Bundle['events']) => ({
    runId: goal.run.runId,
    events: goal.events,
    below: [{ runId: cycle.run.runId, events }],
  });
  const [a, b] = [side(cycle.events), side(cycle.events.slice(0, -2))];
  const diff = treeDiffOf(a, b, { actions: false });
  expect(diff).toMatchObject({ equal: false, below: [{ run: 'c1', equal: false }] });
  expect(diff.why).toContain('Below, c1:');
  expect(treeDiffOf(a, side(cycle.events), { actions: false })).toMatchObject({ equal: true });
});

test('What is hidden is hidden in every run of a tree, and the digest of a hidden start is no longer its own.', async () => {
  const [root, below] = await Promise.all([
    readBundle(join(KEPT, 'goal-rules-proven.json.gz')),
    readBundle(join(KEPT, 'goal-rules-proven_c1.json.gz')),
  ]);
  const whole = treeOf(root, below);
  const told = 'Two left.';
  const rules = [{ name: 'said', pattern: /Two left\./g }];
  const redacted = read(await redactBundle(whole, rules));
  expect(redacted.redactions).toMatchObject([{ rule: 'said', count: expect.any(Number) }]);
  expect(redacted.redactions[0]!.places.join()).toContain('/members/0/');
  expect(bundleText(redacted)).not.toContain(told);
  expect(await replayTree(redacted)).toMatchObject({ equal: true });
  const digestOf = ({ members = [] }: Bundle) => startDigest(members[0]!);
  expect(digestOf(redacted)).toMatch(/^[0-9a-f]{64}$/);
  expect(digestOf(redacted)).not.toBe(digestOf(whole));
});

function startDigest({ segments }: Member): string | undefined {
  const started = attributesOf(segments[0]!.events[0], 'workflowExecutionStarted');
  return textAt(argumentsOf(started.input)[0], 'parent', 'digest');
}

test.each<readonly [string, (member: Member, root: Bundle) => Partial<Bundle>, RegExp]>([
  [
    'a member that names itself',
    (one) => ({ members: [{ ...one, parent: one.run.runId }] }),
    /names itself as its parent/,
  ],
  ['a member that is the root', (one, { run }) => ({ members: [{ ...one, run }] }), /names itself/],
  [
    'members in a circle',
    (one) => ({
      members: [
        { ...one, run: { ...one.run, runId: 'x' }, parent: 'y' },
        { ...one, run: { ...one.run, runId: 'y' }, parent: 'x' },
      ],
    }),
    /does not come after its parent y/,
  ],
  ['a member twice', (one) => ({ members: [one, one] }), /is in it twice/],
  [
    'a member of another tenant',
    (one) => ({ members: [{ ...one, run: { ...one.run, tenant: 'other' } }] }),
    /another tenant/,
  ],
  [
    'a history under the name of another member',
    (one, { run }) => ({ members: [{ ...one, run: { ...run, runId: `${run.runId}:c2` } }] }),
    /in the member .*:c2: segment 0 is of the run/,
  ],
  [
    'a member whose history names another parent',
    (one, { run }) => ({
      members: [one, { ...one, run: { ...run, runId: 'z' }, parent: one.run.runId }],
    }),
    /in the member z: its parent is not/,
  ],
  [
    'generations without end',
    (one) => ({
      members: Array.from({ length: 20 }, (_, index) => ({
        ...one,
        run: { ...one.run, runId: `g${index}` },
        parent: index === 0 ? one.parent : `g${index - 1}`,
      })),
    }),
    /more than 8 generations/,
  ],
  [
    'thousands of members',
    (one) => ({ members: Array.from({ length: 5_000 }, () => one) }),
    /has 5000 members, and a bundle has at most 1000/,
  ],
  [
    'an absent run that is there',
    (one) => ({
      members: [one],
      absent: [{ runId: one.run.runId, parent: one.parent, reason: 'x' }],
    }),
    /cannot be missing/,
  ],
  [
    'a member with an unknown key',
    (one) => ({ members: [{ ...one, extra: 1 } as Member] }),
    /extra/,
  ],
])('%s is refused', (_what, make, reason) => {
  const [member] = tree.members!;
  // Thousands of histories are one value here: the text would be too large for a test.
  const light = (one: Member): Member => ({ ...one, segments: [], events: [] });
  const given = make(member!, goal);
  const members = (given.members ?? []).length > 100 ? given.members!.map(light) : given.members;
  expect(refusal({ ...tree, ...given, members: members ?? [] })).toMatch(reason);
});
