/**
 * A case's activities in a real worker, and their death: what a dead worker was running says nothing any
 * more, neither to Temporal nor to the store, until Temporal has given it up and delivers it again.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import {
  inScope,
  opensElsewhere,
  performActivity,
  type ActivityDeps,
  type QuickOpening,
  type Scope,
} from '../../activities/index.js';
import type { ActivityEffect, CloseRunOutput, ExecuteToolInput } from '../../core/state/effect.js';
import type { RunEvent } from '../../core/state/event.js';
import { wholeEvents } from '../../core/step/outbox.js';
import { mortal, newLife, type Life } from '../../testing/simulation/index.js';
import { isOtherRun } from '../run-tree.js';
import type { Cast } from '../scripted/cast.js';
import type { Sending } from './sending.js';
import type { Turns } from './turns.js';

/** How much longer than Temporal itself an attempt that nobody hears of is held back, in ms. */
const GIVEN_UP_MARGIN_MS = 3_000;

export type Work = Pick<ActivityEffect, 'kind' | 'input'>;

interface Living {
  readonly life: Life;
  /** What activities work with while this life lasts, by what their worker gave. */
  readonly deps: Map<ActivityDeps, ActivityDeps>;
}

export interface CaseLife {
  /** The life of the worker that runs the case now. */
  current(): Life;
  die(): void;
  /** Calls back once, when the next attempt has ended and Temporal is about to be told. */
  atNextOutcome(then: () => void): void;
  perform(deps: ActivityDeps, work: Work): Promise<unknown>;
  /** Every event of a run of the case that an activity has brought along so far, by seq. */
  events(runId: string): readonly RunEvent[];
  /** Runs of the case that activities have worked for. */
  runs(): readonly string[];
  /** Newest node of the transcript when the run was closed. */
  head(): string | null;
}

export interface CaseLifeOptions {
  readonly cast: () => Cast;
  readonly turns: Turns;
  readonly sending: Sending;
  /** Ends whatever is still held back. */
  readonly over: AbortSignal;
  /** Called when an activity has ended well, before the run hears of it. */
  readonly onOutput: (
    kind: ActivityEffect['kind'],
    input: ActivityEffect['input'],
  ) => Promise<void>;
  /** Called when an activity begins. */
  readonly onInput: (work: Work) => void;
  /** Something happens when the run is opened: not within a task, where nothing reaches it. */
  readonly awaitsOpening: (runId: string) => boolean;
}

function newborn(): Living {
  return { life: newLife(), deps: new Map() };
}

/** Rings when an attempt has ended and Temporal is about to be told. */
function outcomeBell() {
  let awaiting: (() => void)[] = [];
  return {
    atNext(then: () => void): void {
      awaiting.push(then);
    },
    async ofWork(work: Promise<unknown>): Promise<unknown> {
      try {
        return await work;
      } finally {
        const callbacks = awaiting;
        awaiting = [];
        for (const then of callbacks) then();
      }
    },
  };
}

/** Events by run and seq, as activities bring them along. */
function eventsByRun() {
  const events = new Map<string, RunEvent[]>();
  return {
    keep(event: RunEvent): void {
      const { runId, seq } = event.stamp;
      const own = events.get(runId) ?? [];
      own[seq] ??= event;
      events.set(runId, own);
    },
    of: (runId: string): readonly RunEvent[] =>
      (events.get(runId) ?? []).filter((event) => event !== undefined),
    runs: (): readonly string[] => [...events.keys()],
  };
}

export function caseLife(options: CaseLifeOptions): CaseLife {
  const { cast, turns, sending, over, onOutput, onInput, awaitsOpening } = options;
  let now = newborn();
  let head: string | null = null;
  const told = eventsByRun();
  const outcomes = outcomeBell();
  function depsOf({ life, deps }: Living, given: ActivityDeps): ActivityDeps {
    const known = deps.get(given);
    if (known !== undefined) return known;
    const { config, providers, summaries, servers } = cast();
    const reached = servers !== undefined && { connectors: servers.world.connectors };
    const sizeAfterSummary = summaries.sizeAfter;
    const own = mortal(
      { ...given, ...reached, config, providers, sizeAfterSummary },
      life,
      () => undefined,
    );
    deps.set(given, own);
    return own;
  }

  async function attempt(living: Living, deps: ActivityDeps, given: Attempt): Promise<unknown> {
    await sending.before(given.work.kind);
    const output = await performActivity(depsOf(living, deps), given.scope, given.work);
    const { kind, input } = given.work;
    // What a sub-agent, or who goes on with the task, said is not the conversation of the case.
    if (kind === 'close_run' && !isOtherRun(input.run.runId))
      head = (output as CloseRunOutput).head;
    await onOutput(given.work.kind, given.work.input);
    return output;
  }

  return {
    current: () => now.life,
    die() {
      const { life } = now;
      now = newborn();
      life.end();
    },
    atNextOutcome: outcomes.atNext,
    perform(deps, work) {
      if (isOpeningTried(work) && awaitsOpening(work.input.run.runId))
        return Promise.resolve(opensElsewhere(work.input, 'outside'));
      onInput(work);
      for (const event of wholeEvents(work.input)) told.keep(event);
      const living = now;
      return inScope(
        (scope) =>
          Promise.race([
            outcomes.ofWork(
              inTurn(turns, { living, scope, work }, () => attempt(living, deps, { scope, work })),
            ),
            held(living.life, scope, over),
          ]),
        () => living.life.dead,
      );
    },
    events: told.of,
    runs: told.runs,
    head: () => head,
  };
}

type OpeningTried = { readonly kind: 'open_run'; readonly input: QuickOpening };

function isOpeningTried(work: Work): work is OpeningTried {
  return work.kind === 'open_run' && 'quick' in work.input;
}

interface Attempt {
  readonly scope: Scope;
  readonly work: Work;
}

/** The turns of calls are known by their activities: a run names those that it waits for. */
async function inTurn(
  turns: Turns,
  { living, scope, work }: Attempt & { readonly living: Living },
  perform: () => Promise<unknown>,
): Promise<unknown> {
  if (work.kind !== 'execute_tool') return perform();
  const { callId } = (work.input as ExecuteToolInput).call;
  const effectId = scope.effectId.slice(0, -`@${scope.execution}`.length);
  const begun = turns.begin({ effectId, callId });
  living.life.onDeath(begun.lost);
  try {
    const output = await perform();
    begun.told();
    return output;
  } catch (error) {
    begun.lost();
    throw error;
  }
}

/** Fails a dead worker's attempt when Temporal has stopped waiting for it: that failure counts for nothing. */
async function held(life: Life, scope: Scope, over: AbortSignal): Promise<never> {
  await new Promise<void>((resolve) => life.onDeath(resolve));
  await sleep(scope.silenceMs + GIVEN_UP_MARGIN_MS, undefined, { signal: over }).catch(
    () => undefined,
  );
  throw new Error('The worker of this attempt died.');
}
