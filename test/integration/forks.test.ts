/** Forks that run live: what the recorded run did is done again only after a person has agreed. */
import { runCli } from '../../cli/program.js';
import type { RunHandle } from '../../client/runs/run-handle.js';
import { foldOf, type RunFold } from '../../recording/fold.js';
import { forkRefusal } from '../../core/loop/fork.js';
import { exportRun } from '../../replay/export-run.js';
import type { Bundle } from '../../replay/bundle.js';
import { replayRun } from '../../replay/strict-replay.js';
import { drawn } from '../draw.js';
import { saySeed, SEED, WHOLE } from '../seed.js';
import { APPROVER } from './support/agents.js';
import {
  ANY_RUN,
  ofType,
  pay,
  read,
  say,
  startWorld,
  TASK_QUEUE,
  until,
  type World,
} from './support/world.js';

let world: World;
beforeAll(async () => {
  world = await startWorld();
});
afterAll(() => world.stop());

const STEPS = 3;
const DESK = { v: 1, ...APPROVER } as const;

function exported(runId: string): Promise<Bundle> {
  return exportRun({ ...world.place, store: world.store }, { tenant: 'default', runId });
}

async function holdfast(...words: readonly string[]) {
  const { address, namespace } = world.place;
  const place = ['--address', address, '--namespace', namespace, '--task-queue', TASK_QUEUE];
  let out = '';
  const code = await runCli(
    [...words, ...place, '--store', world.storePlace, ...(words[0] === 'fork' ? ['--json'] : [])],
    {
      environment: { variables: {}, folder: '.', colour: false, interactive: false },
      streams: { out: (text) => void (out += text), err: (text) => void (out += text) },
    },
  );
  return { code, out };
}

/** The fork to its end, with one answer to each question; gives the questions. */
async function decided(run: RunHandle, decision: 'approve' | 'reject') {
  const answered = new Set<string>();
  await until('the fork to end', async () => {
    const events = await world.events(run.runId);
    for (const { askId, argsHash } of ofType(events, 'approval_requested')) {
      if (answered.has(askId)) continue;
      answered.add(askId);
      await run.decide({ ...DESK, askId, argsHash, decision, decidedAt: Date.now() });
    }
    return events.some(({ type }) => type === 'run_result') || undefined;
  });
  return ofType(await world.events(run.runId), 'approval_requested');
}

async function parentOf(runId: string, tool: string): Promise<RunFold & { bundle: Bundle }> {
  const script = [read('item'), pay(tool), say('Paid.')];
  world.script(ANY_RUN, script);
  const run = await world.start({ runId, replies: script });
  if (tool === 'pay.asked') await decided(run, 'approve');
  await world.ended(run);
  const bundle = await exported(runId);
  const fold = foldOf(bundle);
  if (fold.kind !== 'run') throw new Error('not a run');
  return { ...fold, bundle };
}

test.each(
  WHOLE
    ? ['pay.keyed', 'pay.blind', 'pay.probed', 'pay.asked']
    : drawn(['pay.keyed', 'pay.blind', 'pay.probed', 'pay.asked'], 1, SEED),
)(
  'a fork live does %s again only after a person has agreed, replays, and leaves its parent as it was',
  async (tool) => {
    const parent = `parent-of-${tool}`;
    const fold = await parentOf(parent, tool);
    expect(world.service.visits(parent, 'effect')).toHaveLength(1);
    const possible = fold.steps.filter(
      ({ step }) => forkRefusal(fold.at(step).after) === undefined,
    );
    const steps = WHOLE ? possible : drawn(possible, STEPS, SEED);
    saySeed(`forks of ${tool} at ${steps.map(({ step }) => step).join(', ')}`);
    const forks: string[] = [];
    for (const { step } of steps) {
      const done = fold
        .at(step)
        .after.turn?.calls.some(
          ({ tool: name, stage }) =>
            name === tool && (stage === 'executing' || stage === 'settled'),
        );
      const isDone = done === true || fold.at(step).after.evidence.includes(tool);
      for (const decision of ['reject', 'approve'] as const) {
        const { code, out } = await holdfast('fork', parent, '--at', `${step}`, '--live');
        expect([code, out]).toEqual([0, expect.stringContaining('"mode"')]);
        const { runId } = JSON.parse(out) as { runId: string };
        forks.push(runId);
        const questions = await decided(world.client.handle(runId), decision);
        const effects = world.service.visits(runId, 'effect');
        expect(effects).toHaveLength(decision === 'approve' && !isDone ? 1 : 0);
        if (!isDone) {
          const asked = questions.filter(({ repeats }) => repeats !== undefined);
          expect(asked.length).toBeGreaterThanOrEqual(decision === 'approve' ? 1 : 0);
          expect(questions.length).toBeGreaterThan(0);
        }
        const bundle = await exported(runId);
        expect(await replayRun(bundle)).toMatchObject({ equal: true });
        expect(bundle.events[0]).toMatchObject({
          type: 'session_init',
          forked: { runId: parent, step },
        });
      }
    }
    const shown = await holdfast('show', forks[0]!);
    expect(shown.out).toContain(`a fork of ${parent} after step ${steps[0]!.step}`);
    const { segments, events, nodes } = await exported(parent);
    expect({ segments, events, nodes }).toEqual({
      segments: fold.bundle.segments,
      events: fold.bundle.events,
      nodes: fold.bundle.nodes,
    });
  },
);

test('a start that names a state which nobody has written is refused', async () => {
  const start = world.raw.workflow.start('agentRun', {
    workflowId: 'forged-fork',
    taskQueue: TASK_QUEUE,
    args: [
      { v: 1, agent: 'worker', task: { goal: 'Pay.' }, fork: { id: 'any', step: 1, digest: 'no' } },
    ],
  });
  await expect((await start).result()).rejects.toMatchObject({ name: 'WorkflowFailedError' });
});
