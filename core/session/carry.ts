/**
 * What goes from a run to the next one of its session, and back. Pure.
 * Invariants: values of earlier runs are read-only, below `previous`; a value of the newer run hides an older
 * one whose path overlaps; the guard and the count of answers that Stop hooks sent back only ever grow over a session.
 */
import { compactionsOf } from '../context/compaction.js';
import { PREVIOUS, STATE_PATHS_MAX, writtenState } from '../dataflow/state.js';
import { overlaps } from '../dataflow/state-path.js';
import type { State, StateValue } from '../state/dataflow.js';
import { previewOf } from '../json/json.js';
import { reentriesOf } from '../gates/stop-hooks.js';
import { follows } from '../step/changes.js';
import { warn } from '../step/outbox.js';
import type { RunResult } from '../state/result.js';
import type { OpenRun, Run } from '../state/run.js';
import type { OpenedSession, SavedSession, SessionCarry, SessionToSave } from '../state/session.js';

const TITLE_CHARS_MAX = 200;
const BELOW_PREVIOUS = `${PREVIOUS}.`;

/** A run that has been opened, as its session makes it begin. */
export function beginIn<R extends Run>(run: R, session: OpenedSession): R {
  const { carry, remarks = [], ...own } = session;
  const known = { ...run, session: own };
  const carried = carry === undefined ? known : withCarry(known, carry);
  return remarks.reduce<R>((next, { code, message }) => warn(next, code, message), carried);
}

function withCarry<R extends Run>(run: R, carry: SessionCarry): R {
  const { taskId, step, reactiveAttempts, stopHookReentries = 0, state, context } = carry;
  const previous = Object.entries(state).map(([path, value]) => [BELOW_PREVIOUS + path, value]);
  return {
    ...run,
    ...(previous.length > 0 && { state: Object.fromEntries(previous) as State }),
    ...(context !== undefined && { context }),
    ...(reactiveAttempts > 0 && {
      compactions: { ...compactionsOf(run), reactiveAttempts },
    }),
    ...(stopHookReentries > 0 &&
      follows(run, 'sessionReentries') && { earlierReentries: stopHookReentries }),
    ...(taskId === run.taskId && { tally: { ...run.tally, step } }),
  };
}

/** What is stored of a run whose session is kept. */
export function sessionToSave(run: OpenRun): SessionToSave | undefined {
  const { session, start, frozen } = run;
  if (session?.kept !== true) return undefined;
  const { caller, goal } = start.task;
  const { cwd } = start.session ?? {};
  const reentries = reentriesOf(run);
  return {
    id: session.id,
    base: session.base,
    agent: frozen.agent.name,
    ...(caller !== undefined && { caller }),
    ...(cwd !== undefined && { cwd }),
    title: previewOf({ text: goal }).slice(0, TITLE_CHARS_MAX),
    carry: {
      v: 1,
      taskId: run.taskId,
      step: run.tally.step,
      reactiveAttempts: compactionsOf(run).reactiveAttempts,
      ...(reentries > 0 && follows(run, 'sessionReentries') && { stopHookReentries: reentries }),
      state: stateToCarry(run),
      context: run.context,
    },
  };
}

/** The run's own values, then those that it had from before and has not replaced. */
function stateToCarry(run: OpenRun): State {
  const all: readonly [string, StateValue][] = Object.entries(writtenState(run));
  const own = all.filter(([path]) => !path.startsWith(BELOW_PREVIOUS));
  const older = all
    .filter(([path]) => path.startsWith(BELOW_PREVIOUS))
    .map(([path, value]): [string, StateValue] => [path.slice(BELOW_PREVIOUS.length), value])
    .filter(([path]) => !own.some(([newer]) => overlaps(newer, path)));
  return Object.fromEntries([...own, ...older].slice(0, STATE_PATHS_MAX));
}

/** The session has been stored, or, with undefined, not. */
export function sessionSaved(run: OpenRun, saved: SavedSession | undefined): OpenRun {
  const { session } = run;
  return session === undefined || saved === undefined
    ? run
    : { ...run, session: { ...session, saved } };
}

/** What the result says of the session once the run is over. */
export function sessionOutcome({ session }: Run): RunResult['session'] {
  if (session === undefined) return undefined;
  const { id, saved } = session;
  if (saved === undefined) return { id, saved: false };
  return { id: saved.id, saved: true, ...(saved.id !== id && { forkedFrom: id }) };
}
