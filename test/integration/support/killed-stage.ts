/**
 * One story told many times: once without interruption, and then with a worker or a server that is killed (SIGKILL)
 * when each of the tellings is at the point where it loses it.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Config } from '../../../authoring/index.js';
import type { Observation } from '../../../evaluation/engine.js';
import {
  isSameMessage,
  startWire,
  type Fate,
  type Message,
  type Wire,
  type WireOptions,
} from './wire.js';
import type { Inside, Point } from './kill-points.js';
import { IMPATIENT } from './patience.js';
import { startWorld, until, type World, type WorldOptions } from './world.js';

export const TENANT = 'default';
/** What the id of whatever was told is called in what is compared. */
export const THE_RUN = 'the-run';
/** A dead worker is missed soon; a busy one is given the time to say that it lives. */
export const HEARTBEATS = { repeatable: 5_000, single: 5_000 } as const;
export const WORKFLOW_TASK_TIMEOUT = '5s';
/** Twenty goals go on at once, on a machine that may have much else to do. */
export const ENDED_LIMIT_MS = 400_000;
const AT_POINTS_LIMIT_MS = 120_000;
const DOWN_MS = 500;

/** What is told: a run, or a goal with its cycles. */
export interface Tale {
  readonly wire: Pick<WireOptions, 'runId' | 'activity' | 'decision'>;
  /** What its workers serve; default: what those of a world do. */
  readonly served?: { readonly module: string; readonly config: (options: unknown) => Config };
  start(world: World, telling: Telling): Promise<void>;
  /** How it is known that a telling is in the middle of something. */
  inside(stage: Stage, runId: string, what: Inside): () => Promise<boolean>;
  /** What people do, looked at again and again: whoever has been answered is not answered again. */
  people(stage: Pick<Stage, 'world' | 'patience' | 'told'>): () => Promise<void>;
  /** Waits for the end. */
  observed(world: World, runId: string): Promise<Played>;
}

export interface Telling {
  readonly runId: string;
  readonly taskQueue: string;
  readonly what?: Inside;
}

export interface Stage {
  readonly world: World;
  readonly tale: Tale;
  /** Ids are used once, and have one form, by which the wire knows them. */
  nextRunId(): string;
  /** Those that are given out. */
  readonly told: readonly string[];
  /** Says yes to every question, but for the runs of which it is told to wait. */
  readonly patience: Set<string>;
  stop(): Promise<void>;
}

export interface Played {
  readonly runId: string;
  /** All ids under which there are histories. */
  readonly workflows: readonly string[];
  /** Everything that was seen of it, under another name than its own. */
  readonly observation: Observation;
  /** Keys under which something happened. */
  readonly effects: readonly string[];
  /** Every conversation that the model was shown; a repeated question counts once. */
  readonly asked: readonly string[];
  /** The model was asked something again: an attempt was lost, and is paid for. */
  readonly askedAgain: boolean;
  /** Of all questions that were ever put to a model, as the store has them; of one without an answer its bound. */
  readonly attemptedMicroUsd: number;
}

export async function startStage(
  tale: Tale,
  options: Pick<WorldOptions, 'ownServer' | 'storeSync'> = {},
): Promise<Stage> {
  const world = await startWorld({ worker: false, ...IMPATIENT, ...options });
  const patience = new Set<string>();
  const told: string[] = [];
  let over = false;
  const act = tale.people({ world, patience, told });
  const person = (async () => {
    for (; !over; await sleep(50)) await act();
  })();
  return {
    world,
    tale,
    patience,
    told,
    nextRunId() {
      const runId = `killed-${String(told.length).padStart(3, '0')}`;
      told.push(runId);
      return runId;
    },
    async stop() {
      over = true;
      await person;
      await world.stop();
    },
  };
}

/** The story from beginning to end with one worker, and the messages that it took. */
export async function played(
  stage: Stage,
): Promise<Played & { readonly messages: readonly Message[] }> {
  const { world, tale } = stage;
  const wire = await wireTo(stage, () => 'delivered');
  const worker = await world.serve({
    ...configOf(stage),
    address: wire.address,
    taskQueue: 'whole',
  });
  const runId = stage.nextRunId();
  await tale.start(world, { runId, taskQueue: 'whole' });
  const seen = await tale.observed(world, runId);
  worker.shutdown();
  await worker.run();
  await wire.stop();
  return { ...seen, messages: wire.messages };
}

function configOf({ world, tale }: Stage) {
  const { served } = tale;
  return served && { config: served.config({ serviceUrl: world.service.url }) };
}

function moduleOf({ tale: { served } }: Stage) {
  return served && { configModule: served.module };
}

export interface Killed extends Played {
  readonly point: Point;
  /** Whether it was there when the worker or the server died. */
  readonly reached: boolean;
}

/** The story once for each point; all of them lose the same worker, and end with the next one. */
export async function killed(stage: Stage, points: readonly Point[]): Promise<readonly Killed[]> {
  const { world, patience } = stage;
  const { runs, wire, taskQueue } = await linesFor(stage, points);
  const doomed = await world.spawn({ ...moduleOf(stage), address: wire.address, taskQueue });
  const reached = await allAtPoints(stage, { runs, wire, taskQueue });
  await doomed.kill();
  patience.clear();
  await wire.stop();
  world.service.releaseAll();
  const heir = await world.serve({ ...configOf(stage), taskQueue });
  const seen = await allObserved(stage, runs, reached);
  heir.shutdown();
  await heir.run();
  return seen;
}

/** The same with one worker and a server that is killed and comes back; the world has one of its own. */
export async function killedServer(
  stage: Stage,
  points: readonly Point[],
): Promise<readonly Killed[]> {
  const { world, patience } = stage;
  const { runs, wire, taskQueue } = await linesFor(stage, points);
  const worker = await world.spawn({ ...moduleOf(stage), address: wire.address, taskQueue });
  const reached = await allAtPoints(stage, { runs, wire, taskQueue });
  await world.server.kill();
  patience.clear();
  wire.mend();
  world.service.releaseAll();
  await sleep(DOWN_MS);
  await world.server.restart();
  const seen = await allObserved(stage, runs, reached);
  await worker.kill();
  await wire.stop();
  return seen;
}

type Runs = ReadonlyMap<string, Point>;

interface Lines {
  readonly runs: Runs;
  readonly wire: Wire;
  readonly taskQueue: string;
}

async function linesFor(stage: Stage, points: readonly Point[]): Promise<Lines> {
  const runs = new Map(points.map((point) => [stage.nextRunId(), point]));
  const wire = await wireTo(stage, (message) => {
    const point = runs.get(message.runId);
    const here = point?.kind === 'message' && isSameMessage(message, point.message);
    return here ? point.fate : 'delivered';
  });
  return { runs, wire, taskQueue: `killed-with-${[...runs.keys()][0]}` };
}

function wireTo({ world, tale }: Stage, fate: (message: Message) => Fate): Promise<Wire> {
  return startWire({ address: world.server.address, ...tale.wire, fate });
}

/** Starts all of them, and waits until each is where it is to lose its worker. */
async function allAtPoints(
  stage: Stage,
  { runs, wire, taskQueue }: Lines,
): Promise<ReadonlySet<string>> {
  const { world, tale } = stage;
  const reached = new Set<string>();
  const lose = async (runId: string, point: Point): Promise<void> => {
    const what = point.kind === 'inside' ? point.what : undefined;
    const arrival =
      what === undefined
        ? () => Promise.resolve(wire.cut.has(runId))
        : tale.inside(stage, runId, what);
    await tale.start(world, { runId, taskQueue, ...(what !== undefined && { what }) });
    const there = until(
      `${runId} at its point`,
      async () => ((await arrival()) ? true : undefined),
      AT_POINTS_LIMIT_MS,
    );
    if (await there.catch(() => false)) reached.add(runId);
  };
  await Promise.all([...runs].map(([runId, point]) => lose(runId, point)));
  return reached;
}

function allObserved(
  { world, tale }: Stage,
  runs: Runs,
  reached: ReadonlySet<string>,
): Promise<readonly Killed[]> {
  return Promise.all(
    [...runs].map(async ([runId, point]) => ({
      ...(await tale.observed(world, runId)),
      point,
      reached: reached.has(runId),
    })),
  );
}

/** The same under a name that all tellings share. */
export function nameless<T>(value: T, runId: string): T {
  const text = JSON.stringify(value).replaceAll(runId, THE_RUN);
  // Whoever looks a payment up says in another word, as long, what the payment itself said.
  return JSON.parse(text.replaceAll('seen under', 'done under')) as T;
}
