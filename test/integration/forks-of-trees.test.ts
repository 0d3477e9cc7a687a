/** Live forks of runs that had others work for them: what any run of the tree did is done again only after a person has agreed. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { forkRefusal } from '../../core/loop/fork.js';
import { bundleText, type Bundle } from '../../replay/bundle.js';
import { exportTree } from '../../replay/export-run.js';
import { replayRun } from '../../replay/strict-replay.js';
import { aloneOf, runsOf } from '../../replay/tree.js';
import { drawn } from '../draw.js';
import { saySeed, SEED, WHOLE } from '../seed.js';
import { APPROVER } from './support/agents.js';
import { forked, holdfast, recordOf, type Decision, type Recorded } from './support/forking.js';
import { FORK_TREES, scriptTree, type ForkTree } from './support/fork-trees.js';
import { config as treeConfig } from './support/tree-agents.js';
import { startWorld, until, type World } from './support/world.js';

let world: World;
beforeAll(async () => {
  world = await startWorld({ worker: false });
  await world.serve({ config: treeConfig({ serviceUrl: world.service.url }) });
});
afterAll(() => world?.stop());

const TREES = 2;
const STEPS = 3;
const LIMITS = { timeoutMs: 150_000 };

function wholeTree(runId: string) {
  return exportTree({ ...world.place, store: world.store }, { tenant: 'default', runId });
}

/** A tree to its end, with one answer to each question of any run of it; gives the calls that were asked about as repeated. */
async function decidedBelow(root: string, decision: Decision) {
  const answered = new Set<string>();
  const repeated = new Set<string>();
  const ended = async (runId: string) =>
    (await world.store.getRun('default', runId))?.result !== undefined;
  return until(`the tree of ${root} to end`, async () => {
    for (const under of [root, `${root}:h1`]) {
      const open = await world.store.listAsks('default', { under, pendingOnly: true, limit: 20 });
      for (const { askId, argsHash, runId, repeats } of open) {
        if (answered.has(askId)) continue;
        answered.add(askId);
        // What another run of the tree did meanwhile is asked about once more.
        if (repeats !== undefined) repeated.add(askId.replace(/:repeat(:\d+)?$/, ''));
        const word = {
          v: 1,
          ...APPROVER,
          askId,
          argsHash,
          decision,
          decidedAt: Date.now(),
        } as const;
        await world.client.handle(runId).decide(word);
      }
    }
    const row = await world.store.getRun('default', root);
    const handedTo = row?.result?.handedTo?.runId;
    const isOver = row?.result !== undefined && (handedTo === undefined || (await ended(handedTo)));
    return isOver ? [...repeated] : undefined;
  });
}

async function parentOf(tree: ForkTree, name: string): Promise<string> {
  scriptTree(world, tree);
  const { agent } = tree;
  if (tree.isCycle) {
    const done = { all: [{ person: { roles: ['manager'], question: 'Is it done?' } }] } as const;
    const budget = { maxCostMicroUsd: 10_000_000 };
    const definition = {
      objective: 'All is paid.',
      agent,
      done,
      budget,
      pace: 'when_woken',
    } as const;
    await world.client.startGoal({ goalId: name, definition });
    const cycle = world.client.handle(`${name}:c1`);
    await until(
      'the cycle',
      async () => (await cycle.result(LIMITS).catch(() => undefined)) && true,
    );
    return `${name}:c1`;
  }
  await world.client.start({ agent, task: 'Serve the customer.', runId: name });
  await decidedBelow(name, 'approve');
  const { handedTo } = await world.client.handle(name).result(LIMITS);
  if (handedTo !== undefined) await world.client.handle(handedTo.runId).result(LIMITS);
  return `${name}${tree.forks ?? ''}`;
}

/** Keys of what a run and all runs below it did, by the service itself. */
async function effectsOf(root: string): Promise<readonly string[]> {
  const bundle = await wholeTree(root);
  return runsOf(bundle).flatMap(({ run }) =>
    world.service.visits(run.runId, 'effect').map(({ key }) => key),
  );
}

/** What a fork is to do once more: effects of the run after the step, and of runs that it started after it. */
async function toCome({ fold, bundle }: Recorded, step: number): Promise<number> {
  const { runId } = bundle.run;
  const { after } = fold.at(step);
  const calls = after.turn?.calls ?? [];
  const executing = calls.flatMap(({ stage, id }) => (stage === 'executing' ? [id] : []));
  const started = fold.steps
    .filter((one) => one.step > step)
    .flatMap((one) => fold.at(one.step).started);
  let count = 0;
  const keys = new Set<string>();
  for (const effect of started) {
    if (effect.kind === 'execute_tool' && !executing.includes(effect.input.call.callId))
      keys.add(effect.input.call.key);
    if (effect.kind === 'prepare_child') count += (await effectsOf(effect.input.child)).length;
    if (effect.kind === 'prepare_handoff') count += (await effectsOf(effect.input.child)).length;
  }
  const own = world.service.visits(runId, 'effect').filter(({ key }) => keys.has(key));
  return count + own.length;
}

test.each(WHOLE ? FORK_TREES : drawn(FORK_TREES, TREES, SEED))(
  'a live fork of $name asks before any run of its tree does again what was done, replays, and leaves its parent as it was',
  async (tree) => {
    const parent = await parentOf(tree, `tree-${FORK_TREES.indexOf(tree)}`);
    const record = await recordOf(world, parent);
    const before = await wholeTree(parent);
    expect((await effectsOf(parent)).length).toBeGreaterThan(0);
    const possible = record.fold.steps.filter(
      ({ step }) => forkRefusal(record.fold.at(step).after) === undefined,
    );
    const steps = WHOLE ? possible : drawn(possible, STEPS, SEED);
    saySeed(`forks of ${tree.name} at ${steps.map(({ step }) => step).join(', ')}`);
    for (const { step } of steps) {
      for (const decision of ['reject', 'approve'] as const) {
        const runId = await forked(world, parent, '--at', `${step}`);
        const repeated = await decidedBelow(runId, decision);
        const effects = await effectsOf(runId);
        if (decision === 'reject') expect([step, effects]).toEqual([step, []]);
        else {
          const wanted = await toCome(record, step);
          expect([step, effects.length]).toEqual([step, wanted]);
          expect([step, repeated.length]).toEqual([step, wanted]);
        }
        const own = await wholeTree(runId);
        for (const run of runsOf(own))
          expect(await replayRun(aloneOf(own, run))).toMatchObject({ equal: true });
        // Nothing of the fork counts among the runs of its parent.
        expect(own.members ?? []).toEqual(
          (own.members ?? []).filter(({ run }) => run.runId.startsWith(`${runId}:`)),
        );
      }
    }
    const { exportedAt: _, ...after } = await wholeTree(parent);
    const { exportedAt: __, ...was } = before;
    expect(after).toEqual(was);
  },
  3 * LIMITS.timeoutMs,
);

test('a file is forked live where nothing is known of its runs only when it has the whole tree, and then names the run that did it', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'holdfast-fork-tree-'));
  const elsewhere = await startWorld({ worker: false });
  try {
    await elsewhere.serve({ config: treeConfig({ serviceUrl: elsewhere.service.url }) });
    const tree = FORK_TREES[0]!;
    scriptTree(elsewhere, tree);
    const parent = await parentOf(tree, 'filed');
    const { members = [], ...alone } = await wholeTree(parent);
    const written = (name: string, bundle: Bundle): string => {
      const path = join(folder, name);
      writeFileSync(path, bundleText(bundle));
      return path;
    };
    const forks = (path: string, ...more: readonly string[]) =>
      holdfast(elsewhere, 'fork', path, '--at', '2', '--live', ...more);
    const absent = members.map(({ run: { runId }, parent: above }) => {
      return { runId, parent: above, reason: 'gone' };
    });
    const refused = [
      [written('alone.json', alone), 'leave out --alone'],
      [written('lacking.json', { ...alone, members: [], absent }), 'nothing of 1 of the runs'],
    ] as const;
    for (const [path, words] of refused) {
      const { code, out } = await forks(path);
      expect([code, out]).toEqual([1, expect.stringContaining(words)]);
    }
    const whole = written('whole.json', { ...alone, members });
    for (const [asking, ...more] of [[':a1'], ['', '--run', 'a1']]) {
      scriptTree(elsewhere, asking === '' ? { ...tree, forks: ':a1' } : tree);
      const { code, out } = await forks(whole, ...more);
      expect([code, out]).toEqual([0, expect.stringContaining('"mode":"live"')]);
      const { runId } = JSON.parse(out) as { runId: string };
      const [ask] = await until('the question', async () => {
        const query = { under: runId, pendingOnly: true, limit: 5 };
        const open = await elsewhere.store.listAsks('default', query);
        return open.length > 0 ? open : undefined;
      });
      expect(ask).toMatchObject({
        runId: `${runId}${asking}`,
        tool: 'pay.keyed',
        repeats: { earlier: [{ runId: `${parent}:a1`, state: 'done' }] },
      });
      await elsewhere.client.handle(runId).interrupt();
      await elsewhere.client.handle(runId).result(LIMITS);
    }
  } finally {
    await elsewhere.stop();
    rmSync(folder, { recursive: true, force: true });
  }
});
