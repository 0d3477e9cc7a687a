/**
 * A run that waits for people behind a long segment waits in a new one (`waitsAnew`), on a real server: what people say
 * before, at and after the change counts once. What older rules decide is in test/core/loop/wait-anew.
 */
import type { RunHandle } from '../../client/runs/run-handle.js';
import type { AskView } from '../../core/state/ask-view.js';
import { follows, RULES_VERSION } from '../../core/step/changes.js';
import { foldOf } from '../../recording/fold.js';
import { bundleText } from '../../replay/bundle.js';
import { exportRun } from '../../replay/export-run.js';
import { parseBundle } from '../../replay/read-bundle.js';
import { replayRun } from '../../replay/strict-replay.js';
import { replayRuns } from '../../testing/replay.js';
import { APPROVER } from './support/agents.js';
import { ofType, openAsk, pay, say, startWorld, until, type World } from './support/world.js';

/** Recordings of older rules decide otherwise. */
const rules = Number(process.env['HOLDFAST_RULES'] ?? RULES_VERSION);
const newer = follows({ rules }, 'waitsAnew') ? 1 : 0;

/** Ten reads in a reply: 64 effects are soon begun. */
const REPLIES = 6;
const READS = 10;
const MINUTE = 60_000;

let world: World;
beforeAll(async () => {
  world = await startWorld();
});
afterAll(() => world.stop());

function longRun(
  runId: string,
  settings: { readonly approvalTimeoutMs?: number } = {},
): Promise<RunHandle> {
  return world.start({
    runId,
    settings,
    budget: { maxTurns: 100, maxToolCalls: 'unlimited' },
    replies: ({ assistantMessages: n }) => {
      if (n > REPLIES) return say('Finished.');
      if (n === REPLIES) return pay('pay.asked');
      return {
        calls: Array.from({ length: READS }, (_, i) => ({
          tool: 'facts.read',
          input: { item: `item-${n}-${i}` },
        })),
      };
    },
  });
}

/** The question as soon as anybody can know of it: the run is about to go over. */
function askedAtOnce({ runId }: RunHandle): Promise<AskView> {
  return until('the question', () => world.store.getAsk('default', `${runId}:${REPLIES}`));
}

/** The question when the run waits in its new segment. */
async function askedAnew(run: RunHandle): Promise<AskView> {
  await askedAtOnce(run);
  await until('the new segment', async () =>
    (await run.state()).segment === newer ? true : undefined,
  );
  return openAsk(run);
}

async function endedWell(
  run: RunHandle,
  { effects, asked = 1 }: { readonly effects: number; readonly asked?: number },
) {
  const ended = await world.ended(run);
  expect(world.service.visits(run.runId, 'effect')).toHaveLength(effects);
  expect(ofType(ended.events, 'approval_requested')).toHaveLength(asked);
  return ended;
}

describe('a run that asks behind long work', () => {
  test.concurrent('waits in a segment of few events, and the approval is carried out', async () => {
    const run = await longRun('approved');
    await askedAnew(run);
    const ask = await openAsk(run);
    const { historyLength } = await world.raw.workflow.getHandle(run.runId).describe();
    expect(historyLength < 40).toBe(newer === 1);
    await run.approve(ask.askId, APPROVER);
    const { result, events } = await endedWell(run, { effects: 1 });
    expect(result).toMatchObject({ completed: true, counters: { toolCalls: REPLIES * READS + 1 } });
    const crossings = ofType(events, 'transition').filter(
      ({ reason }) => reason === 'continued_as_new',
    );
    expect(crossings).toHaveLength(newer);
  });

  test.concurrent('is told a no, a correction and the end of its time there', async () => {
    const [denied, edited, expired] = await Promise.all([
      longRun('denied'),
      longRun('edited'),
      longRun('expired', { approvalTimeoutMs: 15_000 }),
    ]);
    await denied.reject((await askedAnew(denied)).askId, { ...APPROVER, reason: 'too much' });
    const ask = await askedAnew(edited);
    const { askId, argsHash } = ask;
    const delivery = await edited.decide({
      v: 1,
      askId,
      argsHash,
      decision: 'modify',
      args: { order: 'A1', amountCents: 400 },
      decidedAt: Date.now(),
      ...APPROVER,
    });
    expect(delivery).toMatchObject({ verdict: { accepted: true, outcome: 'modified' } });
    const no = await endedWell(denied, { effects: 0 });
    expect(ofType(no.events, 'approval_resolved')).toMatchObject([{ outcome: 'rejected' }]);
    // Whoever corrects a call has approved what it became.
    const other = await endedWell(edited, { effects: 1, asked: 2 });
    expect(ofType(other.events, 'approval_resolved')).toMatchObject([
      { outcome: 'modified' },
      { outcome: 'approved' },
    ]);
    const late = await endedWell(expired, { effects: 0 });
    expect(late.result).toMatchObject({ stopReason: 'needs_human', detail: 'approval_timeout' });
    const [resolved] = ofType(late.events, 'approval_resolved');
    const [asked] = ofType(late.events, 'approval_requested');
    expect(resolved!.stamp.at).toBeGreaterThanOrEqual(asked!.expiresAt);
  });

  test.concurrent(
    'hears answers that come in the moment of the change',
    async () => {
      const runs = await Promise.all(Array.from({ length: 4 }, (_, n) => longRun(`at-once-${n}`)));
      await Promise.all(
        runs.map(async (run, n) => {
          const { askId, argsHash } = await askedAtOnce(run);
          if (n % 2 === 0) return void (await run.approve(askId, APPROVER));
          // The bare signal that others may send.
          await world.raw.workflow.getHandle(run.runId).signal('resolveApproval', {
            v: 1,
            askId,
            argsHash,
            decision: 'approve',
            decidedAt: Date.now(),
            ...APPROVER,
          });
        }),
      );
      for (const run of runs) {
        const { events, result } = await endedWell(run, { effects: 1 });
        expect(result.completed).toBe(true);
        expect(ofType(events, 'approval_resolved')).toMatchObject([{ outcome: 'approved' }]);
      }
    },
    3 * MINUTE,
  );
});

test(
  'its segments replay strictly, are exported, and are inspected step by step',
  async () => {
    const ids = ['approved', 'denied', 'edited', 'expired', 'at-once-0', 'at-once-1'];
    expect([...(await replayRuns(world.place, ids))]).toEqual([]);
    const { store } = world;
    const exported = await exportRun(
      { ...world.place, store },
      { tenant: 'default', runId: 'approved' },
    );
    const bundle = parseBundle(bundleText(exported), 'approved.json');
    expect(bundle.segments).toHaveLength(newer + 1);
    expect(await replayRun(bundle)).toMatchObject({ equal: true, segments: newer + 1 });
    const fold = foldOf(bundle);
    expect(fold.divergences).toEqual([]);
    const over = fold.steps.filter(({ rules: fired }) => fired.includes('wait in a new segment'));
    expect(over).toMatchObject(newer === 1 ? [{ segment: 0 }] : []);
    const paying = fold.steps.filter(({ effects }) =>
      effects.some(({ kind }) => kind === 'execute_tool'),
    );
    expect(paying.at(-1)).toMatchObject({ segment: newer });
  },
  3 * MINUTE,
);

test(
  'a worker that is killed at the change leaves the question and the effect as they are',
  async () => {
    const other = await startWorld({ worker: false });
    const before = world;
    world = other;
    try {
      const first = await world.spawn();
      const runs = await Promise.all(Array.from({ length: 2 }, (_, n) => longRun(`killed-${n}`)));
      await Promise.race(runs.map((run) => askedAtOnce(run)));
      await first.kill();
      await world.spawn();
      for (const run of runs) {
        const { askId } = await askedAnew(run);
        await run.approve(askId, APPROVER);
      }
      for (const run of runs) await endedWell(run, { effects: 1 });
      const ids = runs.map(({ runId }) => runId);
      expect([...(await replayRuns(world.place, ids))]).toEqual([]);
    } finally {
      world = before;
      await other.stop();
    }
  },
  5 * MINUTE,
);
