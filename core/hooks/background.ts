/**
 * Hooks that nobody waits for: PostSampling after every reply (G39), StopFailure after an error of the API.
 * Invariant: they change nothing of the turn under way; at the end of a run they get a short time to finish.
 */
import { cancelAll, nextId, startTimer, only } from '../step/inflight.js';
import { type ModelFailure, type OpenRun, type Turn, type Step, hasHooks } from '../state/run.js';
import type { HookPoint } from '../state/hook.js';
import { startHooks, toldText } from './start.js';

const BACKGROUND: readonly HookPoint[] = ['PostSampling', 'StopFailure'];
/** How long a run that has come to its end waits for them, in ms. */
const END_GRACE_MS = 5_000;

/** Once for every reply, before anything of it is acted on. */
export function afterSampling(run: OpenRun, turn: Turn): Step<OpenRun> | undefined {
  if (turn.sampled || !hasHooks(run, 'PostSampling')) return undefined;
  const { text, stop } = turn.reply;
  const calls = turn.calls.map((call) => ({ call_id: call.id, tool_name: call.tool }));
  const payload = { response: toldText(text), stop_reason: stop, tool_calls: calls };
  const marked: OpenRun = { ...run, turn: { ...turn, sampled: true } };
  return startHooks(marked, { point: 'PostSampling' }, payload);
}

/** Not errors of the API: nothing was sent. */
const NOT_OF_THE_API = ['BudgetExhausted', 'TranscriptMissing'];

/** `purpose`: of a request that the loop itself did not make. */
export function notifyFailure(
  run: OpenRun,
  failure: Pick<ModelFailure, 'code' | 'message' | 'attempts' | 'outOfTime'>,
  purpose?: 'compaction',
): Step<OpenRun> {
  const silent = failure.outOfTime || NOT_OF_THE_API.includes(failure.code);
  if (silent || !hasHooks(run, 'StopFailure')) return only(run);
  const { code: error, message, attempts } = failure;
  const payload = { error, message, attempts, ...(purpose !== undefined && { purpose }) };
  return startHooks(run, { point: 'StopFailure' }, payload);
}

/** At the end of a run: 'hold' while they may still finish, a step that limits it or ends them. */
export function awaitBackground(run: OpenRun): Step<OpenRun> | 'hold' | undefined {
  const waited = Object.entries(run.errands ?? {}).some(
    ([id, { point }]) => BACKGROUND.includes(point) && run.inflight[id]?.cancelled === false,
  );
  if (!waited) return undefined;
  const { hookGrace } = run;
  if (hookGrace === undefined) {
    const timer = nextId(run, 'timer');
    const at = run.now + END_GRACE_MS;
    const timed = startTimer(run, { at, summary: 'the last hooks' });
    return { run: { ...timed.run, hookGrace: timer }, effects: timed.effects };
  }
  if (run.inflight[hookGrace] !== undefined) return 'hold';
  const cancelled = cancelAll(run, ['run_hooks']);
  return cancelled.effects.length > 0 ? cancelled : 'hold';
}
