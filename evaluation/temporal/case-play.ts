/** One case on a real server: started, watched, and looked at when it has ended. */
import { seedFiles } from '../case-files.js';
import { setTimeout as sleep } from 'node:timers/promises';
import type { RunHandle } from '../../client/runs/run-handle.js';
import { HoldfastError } from '../../core/state/errors.js';
import type { ExecuteToolInput, PrepareChildInput } from '../../core/state/effect.js';
import type { RunEvent } from '../../core/state/event.js';
import type { RunResult } from '../../core/state/result.js';
import type { Store } from '../../store/store.js';
import type { CaseRun } from '../engine.js';
import type { Fixture } from '../fixture.js';
import { isHandedRun, mergedByTime } from '../run-tree.js';
import { castOf, type Cast } from '../scripted/cast.js';
import { startOf } from '../scripted/config.js';
import {
  occurrenceOf,
  openedOf,
  reachAtEnd,
  toolOccurrence,
  type Occurrence,
} from '../scripted/moments.js';
import { evidenceOf } from '../scripted/evidence.js';
import { seedSessions, sessionEvidence, sessionRequest } from '../scripted/sessions.js';
import { streamViolations } from '../scripted/streamed.js';
import {
  eventViolations,
  finalViolations,
  storedEvents,
  transcriptAt,
  withTexts,
} from '../scripted/observe.js';
import { caseLife, type CaseLife, type Work } from './case-life.js';
import type { Host } from './hosts.js';
import { movesTime } from './moving-time.js';
import type { Replays } from './replays.js';
import { sendingOf, type Sending } from './sending.js';
import { losesWork } from './skip.js';
import { sendToRun, temporalStage } from './temporal-stage.js';
import { turnsOf } from './turns.js';
import { watch } from './watch.js';

/** No case takes longer than this, in ms. */
const CASE_LIMIT_MS = 200_000;
/**
 * A case that loses its worker should not wait a minute for it to be missed; on a busy machine one that only
 * stutters must not be missed either, because each attempt too many is billed and told.
 */
const SHORT_HEARTBEATS = { heartbeatMs: { repeatable: 3_000, single: 3_000 } };
const TENANT = 'default';

export interface EndedCase {
  readonly caseId: string;
  readonly runId: string;
  readonly store: Store;
}

export interface PlayOptions {
  readonly host: Host;
  readonly runId: string;
  readonly replays: Replays;
  /** Called when the run has ended and replayed. */
  readonly onEnded?: (run: EndedCase) => Promise<void>;
  readonly signal?: AbortSignal;
}

export async function playCase(fixture: Fixture, options: PlayOptions): Promise<CaseRun> {
  const { host, runId } = options;
  const over = new AbortController();
  const run = host.client.handle(runId);
  const turns = turnsOf(() => toolsInFlight(run));
  const sending = sendingOf();
  const stage = temporalStage(() => ({ run, host, life, turns }), sendToRun);
  const cast = castOf(
    fixture,
    {
      stage,
      subAgentOf: async (id) => (await host.store.childRow(TENANT, id))?.place?.path.at(-1),
    },
    losesWork(fixture) ? SHORT_HEARTBEATS : {},
  );
  const life = caseLife({
    cast: () => cast,
    turns,
    sending,
    over: over.signal,
    onInput: () => undefined,
    awaitsOpening: (id) => losesWork(fixture) || cast.moments.expects(openedOf(id)),
    async onOutput(kind, input) {
      for (const reached of seamsOf({ kind, input } as Work, { fixture, caseRun: runId }))
        await reachAtEnd(cast.moments, reached, stage.worker());
    },
  });
  host.cases.set(runId, life);
  try {
    const playing = { fixture, cast, life, sending, run, ...options, began: performance.now() };
    return await play(playing, over.signal);
  } finally {
    over.abort();
    await cast.servers?.close();
  }
}

/** What of the events of a run an activity without a double of its own stands for. */
function seamsOf(
  { kind, input }: Work,
  { fixture, caseRun }: { readonly fixture: Fixture; readonly caseRun: string },
): readonly Occurrence[] {
  const { runId } = input.run;
  if (kind === 'open_run') return runId === caseRun ? [openedOf(runId)] : [];
  if (kind !== 'prepare_child' && kind !== 'execute_tool') return [];
  const { tool, id: call } = calledIn({ kind, input } as Work);
  const events = kind === 'prepare_child' ? BEGUN : [...BEGUN, 'tool_finished' as const];
  if (kind === 'execute_tool' && fixture.tools.get(tool)?.builtIn !== true) return [];
  return events.map((event) => {
    const id = toolOccurrence(event, call);
    return { kind: 'event', event, runId, call, tool, id };
  });
}

function calledIn({ kind, input }: Work): { readonly tool: string; readonly id: string } {
  if (kind === 'prepare_child') return (input as PrepareChildInput).call;
  const { tool, callId: id } = (input as ExecuteToolInput).call;
  return { tool, id };
}

const BEGUN = ['tool_started'] as const;

interface Playing extends PlayOptions {
  readonly fixture: Fixture;
  readonly cast: Cast;
  readonly life: CaseLife;
  readonly sending: Sending;
  readonly run: RunHandle;
  readonly began: number;
}

async function play(playing: Playing, over: AbortSignal): Promise<CaseRun> {
  const { cast, host, run, sending, signal } = playing;
  try {
    await begin(playing);
  } catch (error) {
    return notStarted(playing, error);
  }
  const stop = new AbortController();
  const limits = [stop.signal, over, ...(signal === undefined ? [] : [signal])];
  const until = AbortSignal.any(limits);
  const watched = watch({
    store: host.store,
    run,
    reach: (occurrence) => sending.during(() => cast.moments.reach(occurrence)),
    isResting: () => isResting(run),
    ...movesTime(host, () => [run.runId]),
    signal: until,
  });
  try {
    const ended = await Promise.race([
      resultOf(playing, until),
      watched.then((why) =>
        why === 'ended' ? sleep(CASE_LIMIT_MS, 'late' as const, { ref: false }) : why,
      ),
    ]);
    if (typeof ended !== 'string') return await observe(playing, ended);
    stop.abort();
    await run.cancel().catch(() => undefined);
    return ended === 'late'
      ? { kind: 'broken', message: `The run had not ended after ${CASE_LIMIT_MS} ms.` }
      : { kind: 'skipped', why: 'needs virtual time' };
  } finally {
    stop.abort();
  }
}

/** What is to happen at the start happens before any worker has seen the run. */
async function begin({ fixture, cast, host, runId }: Playing): Promise<void> {
  const { agent, task, agents } = startOf(fixture);
  await seedSessions(host.store, fixture);
  await seedFiles(host.store, TENANT, fixture);
  await host.client.start({
    agent,
    task,
    ...(agents !== undefined && { agents }),
    runId,
    wait: false,
    ...sessionRequest(fixture),
  });
  if (!cast.moments.expects({ kind: 'start' })) return;
  await cast.moments.reach({ kind: 'start' });
  await host.serve();
}

/** Whatever was sent to the run before has been received when this is answered. */
async function isResting(run: RunHandle): Promise<boolean> {
  const view = await run.state().catch(() => undefined);
  return (
    view !== undefined &&
    view.status.startsWith('awaiting_') &&
    view.inFlight.every(({ kind }) => kind === 'timer')
  );
}

/** Ids of the activities that execute tools, as the run has started them and not heard of them. */
async function toolsInFlight(run: RunHandle): Promise<readonly string[]> {
  const { activities, attempt } = await run.execution();
  if (attempt > 0) throw new Error('The run is about to hear of something.');
  return activities.filter(({ type }) => type === 'execute_tool').map(({ id }) => id);
}

type Ended = { readonly result: RunResult } | { readonly failure: unknown };

async function resultOf({ run, host }: Playing, signal: AbortSignal): Promise<Ended> {
  const limits = { timeoutMs: CASE_LIMIT_MS, signal };
  try {
    const result = await run.result(limits);
    for (let next = result.handedTo; next !== undefined;) {
      next = (await host.client.handle(next.runId).result(limits)).handedTo;
    }
    return { result };
  } catch (failure) {
    return { failure };
  }
}

async function observe(playing: Playing, ended: Ended): Promise<CaseRun> {
  const { cast, life, host, run, replays, runId } = playing;
  const stored = await storedEvents(host.store, run);
  // A workflow that ended as cancelled has a result all the same.
  const result = 'result' in ended ? ended.result : lastResult(stored);
  if (result === undefined) {
    return notStarted(playing, 'failure' in ended ? ended.failure : undefined);
  }
  if (stored.some((event) => cast.moments.expects(occurrenceOf(event)))) {
    return { kind: 'skipped', why: 'no seam' };
  }
  const events = await withTexts(host.store, TENANT, stored);
  const transcript = await transcriptAt(host.store, TENANT, life.head());
  const whole = await withTexts(host.store, TENANT, result);
  const replayFailure = await replays.failureOf(runId);
  const { config } = cast;
  const { tree, violations: below } = await othersOf(playing, stored);
  const violations = [
    ...below,
    ...finalViolations({ events, transcript, result: whole }),
    ...(await streamViolations(host.store, run, { config, events })),
    ...(replayFailure === undefined ? [] : [`the history does not replay: ${replayFailure}`]),
  ];
  const replayed = replayFailure === undefined;
  const { caseId } = playing.fixture;
  await playing.onEnded?.({ caseId, runId, store: host.store });
  return {
    kind: 'observed',
    observed: {
      ...evidenceOf({ ...playing, tree }, events),
      ...(await sessionEvidence(host.store, playing.fixture, events)),
      result: whole,
      transcript,
      violations,
      replayed,
    },
  };
}

/** What its sub-agents and those that go on with its task told, with what must hold of each. */
async function othersOf(
  { host, runId, replays }: Playing,
  own: readonly RunEvent[],
): Promise<{ readonly tree: readonly RunEvent[]; readonly violations: readonly string[] }> {
  const runs: (readonly RunEvent[])[] = [own];
  const violations: string[] = [];
  const waiting = [...(await subAgentsOf(host, runId)), ...handedIn(own)];
  for (let child = waiting.shift(); child !== undefined; child = waiting.shift()) {
    const name = child;
    const events = await storedEvents(host.store, { tenant: TENANT, runId: name });
    if (events.length === 0) continue;
    runs.push(await withTexts(host.store, TENANT, events));
    violations.push(...eventViolations(events).map((words) => `${name}: ${words}`));
    const failure = await replays.failureOf(name);
    if (failure !== undefined) violations.push(`${name}: the history does not replay: ${failure}`);
    if (isHandedRun(name)) waiting.push(...(await subAgentsOf(host, name)), ...handedIn(events));
  }
  return { tree: runs.length === 1 ? own : mergedByTime(runs), violations };
}

async function subAgentsOf({ store }: Host, root: string): Promise<readonly string[]> {
  return (await store.listTree(TENANT, root)).map(({ child }) => child);
}

/** Runs that have the task from the run of these events. */
function handedIn(events: readonly RunEvent[]): readonly string[] {
  return events.flatMap((event) =>
    event.type === 'handoff' && event.started !== undefined ? [event.started.runId] : [],
  );
}

function lastResult(events: readonly RunEvent[]): RunResult | undefined {
  const last = events.at(-1);
  return last?.type === 'run_result' ? last.result : undefined;
}

function notStarted(playing: Playing, error: unknown): CaseRun {
  if (!(error instanceof HoldfastError)) {
    return { kind: 'broken', message: error instanceof Error ? error.message : String(error) };
  }
  const { code, message } = error;
  if (code === 'NetworkTimeout' || code === 'ServerUnavailable') return { kind: 'broken', message };
  const startError = { code, message };
  return {
    kind: 'observed',
    observed: { ...evidenceOf(playing, []), startError, transcript: [] },
  };
}
