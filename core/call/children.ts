/**
 * The sub-agents of a run from their start to their outcome: started, watched, told to stop, read.
 * Invariants: an outcome is read from the store, a sub-agent's own word is a hint; open ones travel over segments; none is
 * started in a run that ends.
 */
import type { Ask } from '../state/ask.js';
import { refOf, type ActivityEffect, type Effect } from '../state/effect.js';
import type { OpenRun, Step } from '../state/run.js';
import type { RunChild } from '../state/run-child.js';
import type { Ruling } from '../step/advance.js';
import { follows } from '../step/changes.js';
import { storeWork } from '../step/clock.js';
import {
  cancelTimer,
  flying,
  nextId,
  only,
  start,
  startTimer,
  STORE_LIMITS,
} from '../step/inflight.js';
import * as watch from '../step/watch-child.js';
import { takeEnd } from './child-end.js';
import { callOf, isEnding, STOPPED, withChild } from './child-facts.js';
import { lineageOf } from './child-slice.js';
import { takeBack } from './hand-over.js';
import { tellBelow } from './tell-below.js';
import { inlineBytesFor } from './execution.js';
import { giveMore, withdrawUseless } from './more-money.js';
import { startShows } from '../step/showing.js';

/** How long sub-agents that were told to stop are waited for, for each generation that may be below, ms. */
const GRACE_MS = 60_000;

/** Each generation gives up before the one above. */
function graceMs(run: OpenRun): number {
  const { limits, path } = lineageOf(run);
  return GRACE_MS * Math.max(1, limits.depth - path.length + 2);
}

/** Rule: one step of the first sub-agent that can have one. */
export function tendChildren(run: OpenRun): Ruling<OpenRun> {
  const useless = run.asks.some(isForChild) || run.moneyAsked?.for !== undefined;
  const withdrawn = useless ? withdrawUseless(run) : undefined;
  if (withdrawn !== undefined) return withdrawn;
  for (const child of run.children ?? []) {
    const step = tend(run, child);
    if (step !== undefined) return step;
  }
  return undefined;
}

function isForChild({ child }: Ask): boolean {
  return child !== undefined;
}

function tend(run: OpenRun, child: RunChild): Step<OpenRun> | undefined {
  if (child.stage === 'starting') return begin(run, child);
  if (child.stage !== 'open' || (run.segment.full && !isEnding(run))) return undefined;
  if (child.done !== undefined) return takeEnd(run, child, child.done);
  if (child.due || child.last) return close(run, child);
  // Behind the look: a stranger that has its id is told nothing.
  if (child.heardIn !== undefined && child.heardIn !== run.segment.number)
    return report(run, child);
  const { wants } = child;
  const given = wants === undefined ? undefined : giveMore(run, child, wants);
  if (given !== undefined) return given;
  const told = child.modes === undefined ? undefined : tellBelow(run, child);
  if (told !== undefined) return { run: withChild(run, told.child), effects: told.effects };
  if (child.look !== undefined) return undefined;
  const timed = watch.lookLater(run, child);
  return { run: withChild(timed.run, timed.child), effects: timed.effects };
}

function begin(run: OpenRun, { input, ...child }: RunChild): Step<OpenRun> | undefined {
  if (input === undefined) return undefined;
  // Nothing starts in a run that ends: its row is sealed, and the sub-agent never was, or began before a reset.
  if (isEnding(run)) {
    const last = child.due ? {} : ({ last: true, notStarted: STOPPED } as const);
    return only(withChild(run, { ...child, stage: 'open', due: true, ...last }));
  }
  const id = nextId(run, 'start_child');
  const inflight = { ...run.inflight, [id]: { kind: 'start_child' as const, cancelled: false } };
  const next = { ...run, inflight, nextEffect: run.nextEffect + 1 };
  const start = {
    kind: 'start_child',
    id,
    child: child.child,
    ...startShows(run, input),
  } as const;
  if (!follows(run, 'heardEnds') || input.parent === undefined) {
    const begun = withChild(next, { ...child, effectId: id });
    return { run: begun, effects: [{ ...start, input }] };
  }
  const heardIn = run.segment.number;
  const asks = asksAbove(run, child) && { asks: true as const };
  const heard = { ...input, parent: { ...input.parent, hears: true as const, ...asks } };
  const begun = withChild(next, { ...child, effectId: id, heardIn });
  return { run: begun, effects: [{ ...start, input: heard, hears: true }] };
}

/**
 * Its slice is this run's money: what this run says of a used-up budget counts, unless the declaration says otherwise. One
 * without a slice has nothing that this run could raise.
 */
function asksAbove(run: OpenRun, { name, sliceMicroUsd }: RunChild): boolean {
  if (sliceMicroUsd === undefined) return false;
  const { agents, settings } = run.frozen;
  const own = run.start.parent?.asks ? 'ask' : settings.onBudget;
  return follows(run, 'moneyAbove') && (agents?.[name]?.settings?.onBudget ?? own) === 'ask';
}

/** Temporal told its end to a segment before this one: from now on it says so itself. */
function report(run: OpenRun, heard: RunChild): Step<OpenRun> {
  const { heardIn: _, ...child } = heard;
  const effects = [{ kind: 'tell_child', child: child.child, message: 'report' }] as const;
  return { run: withChild(run, child), effects };
}

function close(run: OpenRun, child: RunChild): Step<OpenRun> {
  const untimed = watch.closing(run, child);
  const call = callOf(run, child);
  const schema = run.frozen.agents?.[child.name]?.outputSchema;
  const effectId = nextId(untimed.run, 'close_child');
  const closing = withChild(untimed.run, { ...untimed.child, effectId });
  const begun = start(closing, 'close_child', (id, events): ActivityEffect => ({
    kind: 'close_child',
    id,
    input: {
      v: 1,
      run: refOf(run),
      child: child.child,
      name: child.name,
      last: child.last === true,
      sliceMicroUsd: child.sliceMicroUsd ?? null,
      inlineBytesMax: call === undefined ? 0 : inlineBytesFor(run, call),
      ...(schema !== undefined && { outputSchema: schema }),
      events,
    },
    limits: storeWork(run, STORE_LIMITS),
    summary: child.name,
  }));
  const given = child.last === true && child.told === true;
  const told: readonly Effect[] = given
    ? [{ kind: 'tell_child', child: child.child, message: 'cancel' }]
    : [];
  return { run: begun.run, effects: [...untimed.effects, ...begun.effects, ...told] };
}

/**
 * One step towards having no sub-agent any more. `message`: what those that run are told.
 * 'hold' while one is waited for; undefined: there is none.
 */
export function endChildren(
  run: OpenRun,
  message: 'interrupt' | 'cancel',
): Step<OpenRun> | 'hold' | undefined {
  const { children = [] } = run;
  if (children.length === 0) {
    return (run.handoff?.starts === undefined ? undefined : takeBack(run)) ?? endGrace(run);
  }
  const untold = children.filter(({ stage, told }) => stage === 'open' && told === undefined);
  if (untold.length === 0) return 'hold';
  const effects = untold.map(({ child }): Effect => ({ kind: 'tell_child', child, message }));
  const told = {
    ...run,
    children: children.map((one) => (untold.includes(one) ? { ...one, told: true as const } : one)),
  };
  if (run.childGrace !== undefined) return { run: told, effects };
  const timed = startTimer(told, { at: run.now + graceMs(run), summary: 'end of sub-agents' });
  return {
    run: { ...timed.run, childGrace: nextId(told, 'timer') },
    effects: [...effects, ...timed.effects],
  };
}

function endGrace({ childGrace, ...run }: OpenRun): Step<OpenRun> | undefined {
  return childGrace === undefined ? undefined : cancelTimer(run, childGrace);
}

/** A segment cannot end while one of them is about to be there. */
export function isStartingChildren(run: OpenRun): boolean {
  return (
    flying(run, ['start_child']) || (run.children ?? []).some(({ stage }) => stage === 'starting')
  );
}
