/**
 * One story told many times: a read, a summary, a payment that a person approves, another read, an answer.
 * Once without interruption, and then with a worker that is killed (SIGKILL) when each of its runs is at
 * the point where that run loses it.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Observation } from '../../../evaluation/engine.js';
import { finalViolations, transcriptAt, withTexts } from '../../../evaluation/scripted/observe.js';
import { AGENT, APPROVER } from './agents.js';
import type { Inside, Point } from './kill-points.js';
import { isSummary, storyWith } from './killed-story.js';
import { startWire, type Message, type Wire } from './wire.js';
import { startWorld, until, type History, type World } from './world.js';

const TENANT = 'default';
const RUN_ID = /killed-\d{3}/;
const ACTIVITY = /open_run|call_model|compact|execute_tool|reconcile_tool|flush|close_run/;
/** What a run's id is called in what is compared. */
const THE_RUN = 'the-run';
/** A dead worker is missed soon; a busy one is given the time to say that it lives. */
const HEARTBEATS = { repeatable: 5_000, single: 5_000 } as const;
const WORKFLOW_TASK_TIMEOUT = '5s';
const AT_POINTS_LIMIT_MS = 90_000;
const ENDED_LIMIT_MS = 120_000;
const AT_REST_MS = 1_000;

export interface Stage {
  readonly world: World;
  /** Ids are used once, and have one form, by which the wire knows them. */
  nextRunId(): string;
  /** Says yes to every question, but for the runs of which it is told to wait. */
  readonly patience: Set<string>;
  stop(): Promise<void>;
}

export interface Played {
  readonly runId: string;
  /** Everything that was seen of it, under another name than its own. */
  readonly observation: Observation;
  /** Keys under which payments happened. */
  readonly effects: readonly string[];
  /** Every conversation that the model was shown; a repeated question counts once. */
  readonly asked: readonly string[];
  /** The model was asked something again: an attempt was lost, and is paid for. */
  readonly askedAgain: boolean;
}

export async function startStage(): Promise<Stage> {
  const world = await startWorld({ worker: false });
  const patience = new Set<string>();
  let over = false;
  let count = 0;
  const person = (async () => {
    for (const answered = new Set<string>(); !over; await sleep(50)) {
      await approveAll(world, answered, patience);
    }
  })();
  return {
    world,
    patience,
    nextRunId: () => `killed-${String(count++).padStart(3, '0')}`,
    async stop() {
      over = true;
      await person;
      await world.stop();
    },
  };
}

/** By signal: the person does not wait for a worker. */
async function approveAll(
  { store, raw }: World,
  answered: Set<string>,
  patience: ReadonlySet<string>,
): Promise<void> {
  const asks = await store.listAsks(TENANT, { pendingOnly: true, limit: 100 });
  for (const { askId, argsHash, runId } of asks) {
    if (answered.has(askId) || patience.has(runId)) continue;
    answered.add(askId);
    const decision = { v: 1, askId, argsHash, decision: 'approve', decidedAt: Date.now() };
    await raw.workflow.getHandle(runId).signal('resolveApproval', { ...decision, ...APPROVER });
  }
}

/** The story from beginning to end with one worker, and the messages that it took. */
export async function played(
  stage: Stage,
): Promise<Played & { readonly messages: readonly Message[] }> {
  const { world } = stage;
  const wire = await wireTo(world, () => 'delivered');
  const worker = await world.serve({ address: wire.address, taskQueue: 'whole' });
  const runId = stage.nextRunId();
  await start(world, { runId, taskQueue: 'whole' });
  const seen = await observed(world, runId);
  worker.shutdown();
  await worker.run();
  await wire.stop();
  return { ...seen, messages: wire.messages };
}

export interface Killed extends Played {
  readonly point: Point;
  /** Whether the worker died when the run was there. */
  readonly reached: boolean;
}

/** The story once for each point; all of them lose the same worker, and end with the next one. */
export async function killed(stage: Stage, points: readonly Point[]): Promise<readonly Killed[]> {
  const { world, patience } = stage;
  const runs = new Map(points.map((point) => [stage.nextRunId(), point]));
  const taskQueue = `killed-with-${[...runs.keys()][0]}`;
  const wire = await wireTo(world, ({ runId, number }) => {
    const point = runs.get(runId);
    const here = point?.kind === 'message' && point.message.number === number;
    return here ? point.fate : 'delivered';
  });
  const doomed = await world.spawn({ address: wire.address, taskQueue });
  const begun = [...runs].map(([runId, point]) => lose(stage, wire, { runId, point, taskQueue }));
  const reached = new Map(await Promise.all(begun));
  await doomed.kill();
  patience.clear();
  await wire.stop();
  world.service.releaseAll();
  const heir = await world.serve({ taskQueue });
  const seen = await Promise.all(
    [...runs].map(async ([runId, point]) => ({
      ...(await observed(world, runId)),
      point,
      reached: reached.get(runId) === true,
    })),
  );
  heir.shutdown();
  await heir.run();
  return seen;
}

function wireTo(world: World, fate: Parameters<typeof startWire>[0]['fate']): Promise<Wire> {
  const { address } = world.server;
  return startWire({ address, runId: RUN_ID, activity: ACTIVITY, fate });
}

interface Losing {
  readonly runId: string;
  readonly point: Point;
  readonly taskQueue: string;
}

/** Starts the run and waits until it is where it is to lose its worker. */
async function lose(
  stage: Stage,
  wire: Wire,
  { runId, point, taskQueue }: Losing,
): Promise<readonly [runId: string, reached: boolean]> {
  const { world } = stage;
  const arrival =
    point.kind === 'inside'
      ? insideOf(stage, runId, point.what)
      : () => Promise.resolve(wire.cut.has(runId));
  await start(world, { runId, taskQueue }, point.kind === 'inside' ? point.what : undefined);
  const there = until(
    `${runId} at its point`,
    async () => ((await arrival()) ? true : undefined),
    AT_POINTS_LIMIT_MS,
  );
  return [runId, await there.catch(() => false)];
}

/** How it is known that a run is in the middle of something. */
function insideOf(stage: Stage, runId: string, what: Inside): () => Promise<boolean> {
  const { world, patience } = stage;
  const held = (phase: 'read' | 'before' | 'after') => {
    let there = false;
    void world.service.hold(runId, phase).then(() => (there = true));
    return () => Promise.resolve(there);
  };
  switch (what) {
    case 'while a tool reads':
      return held('read');
    case 'before a payment':
      return held('before');
    case 'after a payment':
      return held('after');
    case 'in the middle of a reply':
      return async () => world.requests(runId).length > 0;
    case 'in the middle of a summary':
      return async () => world.requests(runId).some(({ body = '' }) => isSummary(body));
    case 'while a person is waited for':
      patience.add(runId);
      return async () => {
        const [ask] = await world.store.listAsks(TENANT, { runId, pendingOnly: true, limit: 1 });
        // Announcing it is over by then, and nothing is under way.
        return ask !== undefined && Date.now() - ask.openedAt > AT_REST_MS;
      };
  }
}

async function start(
  { raw, script }: World,
  { runId, taskQueue }: { readonly runId: string; readonly taskQueue: string },
  what?: Inside,
): Promise<void> {
  script(runId, storyWith(what));
  const input = {
    v: 1,
    agent: AGENT,
    task: { goal: 'Serve the customer.' },
    budget: { compactionThreshold: 0.005 },
    settings: { heartbeatMs: HEARTBEATS },
  };
  await raw.workflow.start('agentRun', {
    workflowId: runId,
    taskQueue,
    workflowTaskTimeout: WORKFLOW_TASK_TIMEOUT,
    args: [input],
  });
}

async function observed(world: World, runId: string): Promise<Played> {
  const { store, service } = world;
  const run = world.client.handle(runId);
  await run.result({ timeoutMs: ENDED_LIMIT_MS });
  const ended = await world.ended(run);
  const { result, events } = await withTexts(store, TENANT, {
    result: ended.result,
    events: ended.events,
  });
  const transcript = await transcriptAt(store, TENANT, headIn(ended.history));
  const nameless = <T>(value: T): T => {
    const text = JSON.stringify(value).replaceAll(runId, THE_RUN);
    // Whoever looks a payment up says in another word, as long, what the payment itself said.
    return JSON.parse(text.replaceAll('seen under', 'done under')) as T;
  };
  const bodies = world.requests(runId).map(({ body = '' }) => body);
  const asked = [...new Set(bodies)];
  const seen = nameless({
    observation: {
      result,
      events,
      transcript,
      violations: finalViolations({ events, transcript, result }),
      requests: [],
      executions: [],
      effects: {},
      maxInFlight: 1,
      persisted: 0,
      resumedWith: [],
      tookMs: 0,
    },
    effects: service.visits(runId, 'effect').map(({ key }) => key),
    asked,
    askedAgain: bodies.length > asked.length,
  });
  return { ...seen, runId };
}

/** The newest message of the conversation, as the closing activity reported it. */
function headIn({ events }: History): string {
  const closed = (events ?? []).findLast((event) => event.activityTaskCompletedEventAttributes);
  const payload = closed?.activityTaskCompletedEventAttributes?.result?.payloads?.[0]?.data;
  return (JSON.parse(Buffer.from(payload!).toString('utf8')) as { head: string }).head;
}
