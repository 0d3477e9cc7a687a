/**
 * Dataflow: what becomes of a call when everything it waited for is settled (G1, G3, G5).
 * Invariants: a call goes on only with everything it refers to; after a success no other call for that path
 * starts, and its question to a person is withdrawn.
 */
import { only } from '../../step/inflight.js';
import { closeAsk } from '../../ask/open-ask.js';
import { pendingAsks, go, refuse, type StationResult, baseOf } from '../../step/open-work.js';
import type { Condition } from '../../json/condition.js';
import type { OpenRun, Turn, Step } from '../../state/run.js';
import { isMutating } from '../../state/tool.js';
import { type Call, type ProposedStage, type RecheckedStage } from '../../state/call.js';
import { providersOf, rivalsOf } from './dataflow-edges.js';
import { toolOf } from '../../permission/permission.js';
import { startCheck } from '../argument-check.js';
import { holdsIn, placeOf, valueOf, valuesFor } from '../../dataflow/references.js';
import { type State } from '../../state/dataflow.js';
import { settleCall } from '../result.js';
import { skippedResult, type Skip } from './skip.js';
import { STATE_PREFIX } from '../../dataflow/state-path.js';
import { ownPaths, writtenState, STATE_PATHS_MAX, takenBy } from '../../dataflow/state.js';

/** Station before the check: go on, be skipped, or have references resolved. */
export function unblock(run: OpenRun, call: ProposedStage): StationResult {
  const { flow } = call;
  const { turn } = run;
  if (flow === undefined || turn === undefined || !call.check.ok) return go(run, call);
  const skip =
    alternativeTo(run, turn, call) ?? unmetDependency(turn, call) ?? unmetPath(run, turn, call);
  if (skip !== undefined) return skipped(run, call, skip);
  if (flow.outputPath !== undefined && ownPaths(run).length >= STATE_PATHS_MAX) {
    const message = `The state of this run is full: ${STATE_PATHS_MAX} paths are written.`;
    return refuse('invalid_arguments', message);
  }
  const condition = flow.when === undefined ? 'holds' : judge(writtenState(run), flow.when);
  if (condition === 'fails') return skipped(run, call, unwanted(flow.when?.path));
  if (flow.refs.length === 0 && condition === 'holds') return go(run, call);
  return { kind: 'moved', step: resolve(run, call) };
}

function unmetDependency(turn: Turn, { flow }: Call): Skip | undefined {
  for (const id of flow?.dependsOn ?? []) {
    const other = turn.calls.find((call) => call.id === id);
    if (other === undefined) {
      const message = `It depends on ${id}, which is no call of this reply.`;
      return { code: 'skipped_unresolvable', message };
    }
    if (other.stage === 'settled' && other.result.status !== 'ok') {
      const message = `It depends on ${id}, which did not succeed.`;
      return { code: 'skipped_dependency_failed', message };
    }
  }
  return undefined;
}

function unmetPath(run: OpenRun, turn: Turn, call: Call): Skip | undefined {
  const { refs = [], when } = call.flow ?? {};
  const needed = when === undefined || when.exists === false ? refs : [...refs, when.path];
  const path = needed.find((one) => placeOf(writtenState(run), one) === undefined);
  if (path === undefined) return undefined;
  if (providersOf(turn, call, path).length === 0) return nothingAt(path);
  const message = `Nothing was written to ${STATE_PREFIX}${path}: the calls for it did not succeed.`;
  return { code: 'skipped_dependency_failed', path, message };
}

function nothingAt(path: string): Skip {
  const message = `Nothing is written at ${STATE_PREFIX}${path}, and no call of this reply writes it.`;
  return { code: 'skipped_unresolvable', path, message };
}

function unwanted(path: string | undefined): Skip {
  const message = 'Its condition does not hold.';
  return { code: 'skipped_alternative', ...(path !== undefined && { path }), message };
}

/** A large value has to be read from the store before a condition on it can be judged. */
function judge(state: State, when: Condition): 'holds' | 'fails' | 'unknown' {
  const place = placeOf(state, when.path);
  const value = place === undefined ? undefined : state[place];
  if (place === undefined || value === undefined) return when.exists === false ? 'holds' : 'fails';
  if (!('text' in value)) return 'unknown';
  return holdsIn({ [place]: valueOf(value.text, value) }, when) ? 'holds' : 'fails';
}

function resolve(run: OpenRun, call: ProposedStage): Step<OpenRun> {
  const { tool, toolVersion, args, flow } = call;
  const { refs = [], when } = flow ?? {};
  const needed = when === undefined ? refs : [...refs, when.path];
  return startCheck(run, call, {
    asker: { kind: 'dataflow' },
    target: { tool, toolVersion },
    args,
    state: valuesFor(writtenState(run), needed),
    ...(when !== undefined && { when }),
  });
}

/** References are resolved: the call goes on as if it had been proposed with these arguments. */
export function resolved(run: OpenRun, call: RecheckedStage): StationResult {
  const { answer, flow } = call;
  if (!answer.ok) {
    const message = `The values that it refers to could not be read: ${answer.failure.message}`;
    return refuse('execution_error', message);
  }
  const { args, digest, check, unmet } = answer.output;
  if (unmet?.kind === 'condition') return skipped(run, call, unwanted(flow?.when?.path));
  if (unmet !== undefined) return skipped(run, call, nothingAt(unmet.path));
  const { when: _, ...rest } = flow ?? { refs: [] };
  const whole = { ...baseOf(call), args, digest, flow: { ...rest, refs: [] } };
  return go(run, { ...whole, stage: 'proposed', check });
}

function skipped(run: OpenRun, call: Call, skip: Skip): StationResult {
  const settled = settleCall(run, call, skippedResult(run, call, skip));
  return { kind: 'moved', step: only(settled) };
}

/** Stages in which nothing of an unblocked call is under way. */
const AT_REST: readonly Call['stage'][] = [
  'rechecked',
  'checked',
  'hooked',
  'waiting',
  'asking',
  'granted',
];

/** Ends the first call whose path has got its value from another one, and its question with it. */
export function supersede(run: OpenRun, turn: Turn): Step<OpenRun> | undefined {
  for (const call of turn.calls) {
    const skip = AT_REST.includes(call.stage) ? alternativeTo(run, turn, call) : undefined;
    if (skip === undefined) continue;
    const asks = pendingAsks(run).filter((ask) => ask.callId === call.id);
    const closed = asks.reduce<Step<OpenRun>>((step, ask) => {
      const next = closeAsk(step.run, ask.id, { outcome: 'withdrawn', reason: skip.message });
      return { run: next.run, effects: [...step.effects, ...next.effects] };
    }, only(run));
    const settled = settleCall(closed.run, call, skippedResult(closed.run, call, skip));
    return { run: settled, effects: closed.effects };
  }
  return undefined;
}

function alternativeTo(run: OpenRun, turn: Turn, call: Call): Skip | undefined {
  const path = call.flow?.outputPath;
  if (path === undefined) return undefined;
  const written = takenBy(run, path);
  if (written !== undefined) {
    const message = `${STATE_PREFIX}${written} is written already.`;
    return { code: 'skipped_alternative', path, message };
  }
  // Both may not happen, so the second must not run where the first did, or may have.
  for (const rival of rivalsOf(turn, call)) {
    const message = hasActed(run, rival);
    if (message !== undefined) return { code: 'skipped_alternative', path, message };
  }
  return undefined;
}

function hasActed(run: OpenRun, rival: Call): string | undefined {
  if (rival.stage !== 'settled') return undefined;
  if (rival.result.code === 'outcome_unknown') {
    return `Nobody knows whether ${rival.tool}, for the same path, took effect.`;
  }
  const tool = toolOf(run, rival.tool);
  return rival.result.code === 'malformed_result' && tool !== undefined && isMutating(tool)
    ? `${rival.tool}, for the same path, took effect.`
    : undefined;
}
