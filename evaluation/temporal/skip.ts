/** Cases that a real server cannot play: before they are started it is said why. */
import { isMutating } from '../../core/state/tool.js';
import type { Action, CaseTool, Fixture, Pattern } from '../fixture.js';
import type { ScriptedResult } from '../script.js';
import { namesSessions } from '../scripted/sessions.js';

/** `needs a whole server`: Temporal's test server forgets what an attempt that was lost had told. */
export type Skip = 'needs virtual time' | 'no seam' | 'needs a whole server';

/** Longest wait in a case, in ms, that is worth a worker's real time. */
const WAIT_MS_MAX = 60_000;

/** Events in whose activity a double stands, or at which the run waits for a person. */
const REACHED: readonly string[] = [
  'session_init',
  'model_response',
  'tool_started',
  'tool_finished',
  'hook',
  'approval_requested',
  'input_request',
];

/** Of goals: told in a checkpoint, in the first activity of a cycle, or where the goal sleeps. */
const REACHED_IN_GOALS: readonly string[] = [
  'cycle_started',
  'cycle_ended',
  'check_finished',
  'progress_noted',
  'goal_review',
  'checkpoint_saved',
  'goal_sleeping',
];

/** At these it rests. */
const AT_REST: readonly string[] = ['approval_requested', 'input_request', 'goal_sleeping'];

/** Of these the outcome of an activity tells. */
const AT_END = [
  'session_init',
  'model_response',
  'tool_finished',
  'hook',
  ...REACHED_IN_GOALS.filter((event) => event !== 'goal_sleeping'),
];

export function skipOf(
  fixture: Fixture,
  { movesTime = false }: { readonly movesTime?: boolean } = {},
): Skip | undefined {
  const actions = fixture.during.flatMap((moment) => moment.actions);
  const isTimeMoved = fixture.needsVirtualTime && !(movesTime && isMovedAtRest(fixture));
  if (isTimeMoved || longestWait(fixture, actions) > WAIT_MS_MAX) {
    return 'needs virtual time';
  }
  if (movesTime && losesAttempts(fixture)) return 'needs a whole server';
  const reached = fixture.goal === undefined ? REACHED : [...REACHED, ...REACHED_IN_GOALS];
  return fixture.during.every(({ on }) => isReachable(on, reached)) ? undefined : 'no seam';
}

/**
 * The worker of this case starts late, is held, or ends before the case does: it needs one to itself; so
 * does a case whose sessions lie in the store, or the tools of whose servers are kept there as they were first met.
 */
export function needsOwnWorker(fixture: Fixture): boolean {
  const { during, servers } = fixture;
  if (namesSessions(fixture) || servers.size > 0) return true;
  return endsWorker({ during }) || during.some(({ on }) => on.kind === 'start' || isAtEnd(on));
}

/** The worker of this case is killed or restarted. */
export function endsWorker({ during }: Pick<Fixture, 'during'>): boolean {
  return during.some(({ actions }) =>
    actions.some(({ kind }) => kind === 'killWorker' || kind === 'restartWorker'),
  );
}

/** It happens when an activity ends, and must be known together with its outcome. */
function isAtEnd(on: Pattern): boolean {
  if (on.kind === 'modelCall') return on.at === 'after';
  return on.kind === 'event' && AT_END.includes(on.pattern.event);
}

/** A worker dies in this case: it should not take long to be missed. */
export function losesWork(fixture: Fixture): boolean {
  return losesAttempts(fixture) || endsWorker(fixture);
}

function losesAttempts({ tools, during }: Fixture): boolean {
  const lost = [...tools.values()].some(({ results }) =>
    results.some(({ kind }) => kind === 'lost'),
  );
  return lost || during.some(({ actions }) => actions.some(({ kind }) => kind === 'killWorker'));
}

/** While a worker works for the case, time goes no faster than the machine's. */
function isMovedAtRest({ during }: Fixture): boolean {
  return during
    .filter(({ actions }) => actions.some(({ kind }) => kind === 'advance'))
    .every(({ on }) => on.kind === 'event' && AT_REST.includes(on.pattern.event));
}

function isReachable(on: Pattern, reached: readonly string[]): boolean {
  return on.kind !== 'event' || reached.includes(on.pattern.event);
}

function longestWait({ model, goal, tools, budget }: Fixture, actions: readonly Action[]): number {
  const scripts = [model, ...(goal?.cycles ?? []).map((cycle) => cycle.model)];
  const replies = scripts.flat().flatMap(({ reply }) => {
    if (reply.kind !== 'error' || reply.error.kind !== 'status') return [reply.delayMs];
    return [reply.delayMs, (reply.error.retryAfterSeconds ?? 0) * 1_000];
  });
  const isWatched = actions.length > 0;
  const { timeoutMs = Infinity } = budget;
  const wholeMs = timeoutMs === 'unlimited' ? Infinity : timeoutMs;
  const results = [...tools.values()]
    .flatMap((tool) => waitsOf(tool, isWatched))
    .map((ms) => Math.min(ms, wholeMs));
  const outages = actions.map((one) => (one.kind === 'restartWorker' ? (one.downMs ?? 0) : 0));
  return Math.max(0, ...replies, ...results, ...outages);
}

/**
 * Without an answer a tool has its whole time, unless somebody may stop the run; the claim of an effect in doubt holds as
 * long before anybody is asked.
 */
function waitsOf(
  { effect, timeoutMs, results, recorded = [] }: CaseTool,
  isWatched: boolean,
): readonly number[] {
  const unanswered: ScriptedResult['kind'][] = isWatched ? ['timeout'] : ['timeout', 'hang'];
  if (isMutating({ effect })) unanswered.push('throws', 'lost');
  return [...results, ...recorded.flatMap((one) => one.results)].map(({ kind, delayMs }) =>
    unanswered.includes(kind) ? delayMs + timeoutMs : delayMs,
  );
}
