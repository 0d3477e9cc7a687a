/**
 * The first Run of a fork: a recorded run as it was after a step, made into a run of its own.
 * Invariants:
 *  K1 Nothing of the parent is in flight: no timer, no effect, no open question, no undelivered event.
 *  K2 No approval is taken over: a call that people had let go on is asked about again before it runs.
 *  K3 A call that may have had an effect never begins anew by itself: it gets its recorded outcome, or is in doubt.
 *  K4 Counters and money go on from those of the parent.
 */
import type { Parsed } from '../json/shape.js';
import type { OpenRunOutput } from '../state/effect.js';
import type { Fork } from '../state/fork.js';
import type { Frozen } from '../state/frozen.js';
import { isOpen, type OpenRun, type Run } from '../state/run.js';
import type { Supervision } from '../state/supervision.js';
import { FIRST_RULES, follows, knownRules } from '../step/changes.js';
import { flying } from '../step/inflight.js';
import { turnOf } from './fork-calls.js';

export interface ForkIdentity {
  readonly runId: string;
  readonly taskId: string;
  /** ms since epoch. */
  readonly at: number;
  /** Calls that the parent may have made are asked about by their keys there. */
  readonly namesKeys: boolean;
}

/** Why no fork begins after this step; undefined: one can. */
export function forkRefusal(run: Run): string | undefined {
  if (!isOpen(run) || run.arrival !== undefined)
    return 'The run had not begun its work at this step; name a later one.';
  if (run.final?.kind === 'continue_as_new')
    return 'The run went on in a new segment at this step; name an earlier step or the next one.';
  if (run.final !== undefined || run.stopping !== undefined)
    return 'The run was ending at this step; name an earlier one.';
  if (run.handoff !== undefined)
    return 'The run was being handed over to another agent at this step; name an earlier or a later one.';
  return undefined;
}

export function forkRun(fork: Fork, identity: ForkIdentity): Parsed<Run> {
  const { run: parent } = fork;
  const reason = forkRefusal(parent);
  if (reason !== undefined || !isOpen(parent)) {
    return { ok: false, reason: reason ?? 'The run was not open.' };
  }
  const frozen = fork.frozen ?? parent.frozen;
  const rest = withoutOpenWork({ ...parent, frozen }, identity.at);
  const turn =
    parent.turn && turnOf(parent, parent.turn, { ...fork, namesKeys: identity.namesKeys });
  const unknown = results(fork).find((callId) => !isAtHand(parent, callId));
  if (unknown !== undefined) return { ok: false, reason: notAtHand(unknown) };
  const { parent: _, session: __, ...start } = parent.start;
  return {
    ok: true,
    value: {
      ...rest,
      runId: identity.runId,
      taskId: identity.taskId,
      traceId: identity.runId,
      start: { ...start, task: { ...start.task, taskId: identity.taskId } },
      forked: {
        runId: parent.runId,
        step: fork.step,
        spentMicroUsd: parent.money.spentMicroUsd,
        regrant: (turn?.calls ?? []).flatMap(({ id, stage }) => (stage === 'returned' ? [id] : [])),
        ...(fork.keepsRules === true && { rules: parent.rules }),
        ...(identity.namesKeys && knowsKeys(parent) && { keysKnown: true }),
      },
      ...(turn !== undefined && { turn }),
      head: fork.head ?? parent.head,
      context: contextUnder(parent, frozen),
      pending: parent.pending.map((item) => pendingOf(item, fork)),
      queue: [...parent.queue, ...(fork.message === undefined ? [] : [{ text: fork.message }])],
      arrival: { goal: { text: parent.start.task.goal }, context: [], hooks: 'done', forked: true },
    },
  };
}

/** A parent that is a fork without this may have calls of its own parent, under keys that nobody kept. */
function knowsKeys({ forked }: Run): boolean {
  return forked === undefined || forked.keysKnown === true;
}

/** `open_run` is back with the state that a fork begins from; `rest` is what the new run knows by itself. */
export function forkOpened(rest: Run, output: OpenRunOutput): Run {
  const { runId, taskId, now, start, begunWith, store = output.store, deskKeys } = rest;
  const namesKeys = follows({ rules: begunWith ?? FIRST_RULES }, 'parentsKey');
  const identity = { runId, taskId, at: now, namesKeys };
  const forked = forkRun(output.fork as unknown as Fork, identity);
  if (!forked.ok) {
    return {
      ...rest,
      notOpened: { code: 'ForkRefused', message: forked.reason },
    };
  }
  const { outbox, inflight, nextEffect, segment } = rest;
  const { store: origin, fork } = start;
  return {
    ...forked.value,
    ...(begunWith !== undefined && { begunWith }),
    ...(store !== undefined && { store }),
    ...(deskKeys !== undefined && { deskKeys }),
    start: {
      ...forked.value.start,
      ...(origin !== undefined && { store: origin }),
      ...(fork !== undefined && { fork }),
    },
    rules: forked.value.forked?.rules ?? knownRules(Math.max(forked.value.rules, output.rules)),
    outbox,
    inflight,
    nextEffect,
    segment,
  };
}

/** A longer prompt takes more of the context window. */
function contextUnder({ context, frozen: was }: OpenRun, { prompt }: Frozen): Run['context'] {
  const more = prompt.bytes - was.prompt.bytes;
  if (more === 0) return context;
  return {
    ...context,
    newBytes: context.newBytes + Math.max(0, more),
    ...(context.bytes !== undefined && { bytes: Math.max(0, context.bytes + more) }),
  };
}

/** What waits, works, or was said to the parent alone is left behind. */
function withoutOpenWork(run: OpenRun, at: number): OpenRun {
  const { endTimer: _, graceTimer: _g, childGrace: _c, hookGrace: _h, ...timeless } = run;
  const { children: _ch, grants: _gr, unjudged: _u, keyWait: _k, proofs: _p, ...alone } = timeless;
  const { mail: _m, session: _s, store: _st, previousExecution: _pe, unheard: _un, ...own } = alone;
  const { errands: _e, storing: _so, shownStatus: _sh, asked, preCompact, ...rested } = own;
  const { interrupt: _i, pausing: _pa, closeAsked: _cl, supervision, ...rest } = rested;
  const { activeMs, waitingMs } = run.clock;
  const { current, ...compactions } = run.compactions ?? {};
  const { effectId: _ef, outcome, ...wanted } = current ?? {};
  const isAsking = Object.values(run.inflight).some(({ kind }) => kind === 'call_model');
  return {
    ...rest,
    ...(asked !== undefined && !isAsking && { asked }),
    ...(preCompact === 'done' && { preCompact }),
    ...(supervision !== undefined && { supervision: lookedAnew(run, supervision) }),
    ...(run.compactions !== undefined && {
      compactions: {
        ...(compactions as NonNullable<Run['compactions']>),
        // One that is back is acted upon; one under way begins anew.
        ...(current !== undefined && {
          current: (outcome === undefined ? wanted : current) as typeof current,
        }),
      },
    }),
    ...(run.exceeded !== undefined && { exceeded: withoutAsk(run.exceeded) }),
    requests: run.requests - (isAsking ? 1 : 0),
    now: at,
    clock: { startedAt: at - activeMs - waitingMs, activeMs, waitingMs },
    money: { ...run.money, reserved: {} },
    asks: [],
    closedAsks: [],
    early: [],
    seenMessageIds: [],
    unprocessed: [],
    verdicts: [],
    closeRequested: false,
    outbox: { nextSeq: 0, events: [] },
    inflight: {},
    segment: { number: 0, full: false, opened: false },
  };
}

/** The events of the fork are its own; a look under way begins anew, and so does one whose question was open. */
function lookedAnew(run: OpenRun, supervision: Supervision): Supervision {
  const { askId, due, interrupts: _, ...known } = supervision;
  const isUnheard = askId !== undefined || flying(run, ['ask_supervisor']);
  return { ...known, seen: 0, ...((due === true || isUnheard) && { due: true as const }) };
}

function withoutAsk(exceeded: NonNullable<Run['exceeded']>) {
  const { askId: _, ...unasked } = exceeded;
  return unasked;
}

type Pending = Run['pending'][number];

/** A result of the newest turn that is on its way into the conversation. */
function pendingOf(item: Pending, { results: given = {} }: Fork): Pending {
  if (item.kind !== 'results') return item;
  return {
    ...item,
    results: item.results.map(({ code, isError, ...result }) => {
      const content = given[result.callId];
      return content === undefined
        ? { ...result, isError, ...(code !== undefined && { code }) }
        : { ...result, isError: false, content };
    }),
  };
}

function results({ results: given = {} }: Fork): readonly string[] {
  return Object.keys(given);
}

function isAtHand(run: Run, callId: string): boolean {
  return callsAtHand(run).includes(callId);
}

/** Calls whose results a fork may change: the model has not answered to them yet. */
export function callsAtHand({ turn, pending }: Run): readonly string[] {
  const waiting = pending.flatMap((item) => (item.kind === 'results' ? item.results : []));
  const ids = [...waiting.map(({ callId }) => callId), ...(turn?.calls ?? []).map(({ id }) => id)];
  return [...new Set(ids)];
}

function notAtHand(callId: string): string {
  return `The call ${callId.slice(0, 100)} is not at hand after this step: name a step at which the model had proposed it and had not yet answered to its result.`;
}
