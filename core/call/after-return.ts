/**
 * Station 7: one result for every call, whatever came back.
 * Invariant: only a definite failure is an error the model may retry; an ambiguous one is reconciled first (G96).
 */
import { only } from '../step/inflight.js';
import type { ToolOutcome } from '../state/effect.js';
import type { Finding } from '../state/recovery.js';
import { exceed } from '../money/exceed.js';
import { warn } from '../step/outbox.js';
import type { OpenRun } from '../state/run.js';
import { isMutating } from '../state/tool.js';
import type { ToolResult, ToolResultCode } from '../state/tool-result.js';
import { type Call, type ReturnedStage } from '../state/call.js';
import { doubt, reconcile, withoutDoubt } from './doubt.js';
import { attemptKeyOf, keyOf, go, type StationResult, baseOf } from '../step/open-work.js';
import { checkAgain } from './argument-check.js';
import { elicit } from './elicit.js';
import { goElsewhere } from './quick.js';
import { askToRepeat } from './repeat.js';
import { queueOf } from '../step/route.js';
import { adoptSchemaMetBy, stopChangedTool } from './schema-changed.js';
import { toolOf } from '../permission/permission.js';
import { errorResult, okResult, settleCall, stopUnknown, unknownResult } from './result.js';

/** Executions after losses that are known to have done nothing; then the call is an error. */
const EXECUTIONS_MAX = 5;
/** Keys that other arguments turn out to have taken; then the call is an error. */
const REVISIONS_MAX = 5;
/** Of a call that a fork took over. */
const UNREPEATED = 'A fork does not repeat an attempt of its parent: its key would be another one.';
/** Answers of which the keys were revoked; then the run needs a person. */
const UNPROVEN_WORDS_MAX = 3;

/** What a fact that came back means for its call. */
export function settle(run: OpenRun, call: ReturnedStage): StationResult {
  const { fact } = call;
  if (fact.kind === 'outcome') return ofOutcome(run, call, fact.outcome);
  if (fact.kind === 'finding') return ofFinding(run, call, fact.finding);
  if (fact.kind === 'recorded') {
    return fact.answer === 'happened'
      ? done(run, call, okResult(run, call, fact))
      : again(run, call);
  }
  if (fact.kind === 'unproven') return unproven(run, call);
  if (fact.failure.unserved) return unserved(run, call);
  if (fact.doing === 'reconcile') {
    return ofFinding(run, call, { kind: 'unknown', message: fact.failure.message });
  }
  if (fact.doing === 'record') return done(run, call, unknownResult(run, call));
  return ofFailure(run, call, fact);
}

function ofOutcome(run: OpenRun, call: ReturnedStage, outcome: ToolOutcome): StationResult {
  const untold = call.inDoubt === undefined ? undefined : nothingBy(outcome);
  if (untold !== undefined) {
    const message = `The last attempt did nothing: ${untold}`;
    return ofFinding(run, call, { kind: 'unknown', message });
  }
  switch (outcome.kind) {
    case 'ok':
      return done(run, call, okResult(run, call, outcome));
    case 'error': {
      const known = outcome.changed ? stopChangedTool(run, call.tool, outcome.message) : run;
      return done(known, call, errorResult(known, call, outcome));
    }
    case 'input_required':
      return elicit(run, call, outcome);
    case 'ambiguous':
      return findOut(run, call, outcome.message);
    case 'key_conflict':
      return revise(run, call, outcome.message);
    case 'repeats':
      return askToRepeat(run, call, outcome.repeats);
    case 'schema_changed':
      return checkAnew(run, call, outcome.schemaHash);
    case 'elsewhere':
      return goElsewhere(run, call, outcome.reason);
  }
}

/** Why an attempt did nothing: of the attempt in doubt before it, that tells nothing. */
function nothingBy(outcome: ToolOutcome): string | undefined {
  switch (outcome.kind) {
    case 'error':
      return outcome.code === 'malformed_result' ? undefined : outcome.message;
    case 'input_required':
      return 'the server asked a person first.';
    case 'key_conflict':
      return outcome.message;
    case 'repeats':
      return 'the same was done before.';
    case 'schema_changed':
      return 'no worker serves its tool with the schema that the run began with.';
    case 'ok':
    case 'ambiguous':
    case 'elsewhere':
      return undefined;
  }
}

/** Another key, checked and approved anew (G97). */
function revise(run: OpenRun, call: ReturnedStage, conflict: string): StationResult {
  const warned = warn(run, 'key_conflict', `${keyOf(run, call)}: ${conflict}`);
  if (call.revision - (call.corrected?.times ?? 0) >= REVISIONS_MAX) {
    const message = `Nothing was done: ${REVISIONS_MAX + 1} keys of this call are taken by other actions.`;
    return done(warned, call, errorResult(warned, call, { code: 'execution_error', message }));
  }
  return go(warned, { ...baseOf(call), revision: call.revision + 1, attempt: 1, stage: 'checked' });
}

/**
 * Nothing happened: the call is checked by the schema that workers serve now, under another key, so that whoever
 * approved it is asked again (G110).
 */
function checkAnew(run: OpenRun, call: ReturnedStage, schemaHash: string): StationResult {
  const { tool, revision, corrected } = call;
  const adopted = adoptSchemaMetBy(run, call, schemaHash);
  if (revision - (corrected?.times ?? 0) >= REVISIONS_MAX) {
    const message = `Nothing was done: the schema of ${tool} changed again and again.`;
    const gone = { code: 'tool_unavailable', message } as const;
    return done(adopted, call, errorResult(adopted, call, gone));
  }
  return checkAgain(adopted, call);
}

function ofFinding(run: OpenRun, call: ReturnedStage, finding: Finding): StationResult {
  if (finding.kind === 'happened') {
    const { malformed } = finding;
    return malformed === undefined
      ? done(run, call, okResult(run, call, finding))
      : done(run, call, errorResult(run, call, { code: 'malformed_result', message: malformed }));
  }
  if (finding.kind === 'not_happened')
    return call.unserved ? unavailable(run, withoutDoubt(run, call)) : again(run, call);
  if (finding.kind === 'unknown') return unknown(run, call, finding.message);
  // A repetition by a fork would have another key, by which nobody recognises it.
  return call.parentKey === undefined ? repeat(run, call) : unknown(run, call, UNREPEATED);
}

function unknown(run: OpenRun, call: ReturnedStage, message: string): StationResult {
  const { onOutcomeUnknown } = run.frozen.settings;
  if (onOutcomeUnknown === 'ask') return { kind: 'moved', step: doubt(run, call, message) };
  const settled = settleCall(run, call, unknownResult(run, call));
  return moved(onOutcomeUnknown === 'stop' ? stopUnknown(settled, call) : settled);
}

/** Neither ledger nor tool know by a key of a fork of what the recorded run did: a person is asked. */
function findOut(run: OpenRun, call: ReturnedStage, because: string): StationResult {
  return call.parentKey === undefined
    ? { kind: 'moved', step: reconcile(run, call) }
    : unknown(run, call, because);
}

/** The word on its outcome was signed with a key that counts no more: the call is in doubt as before. */
function unproven(run: OpenRun, call: ReturnedStage): StationResult {
  const unprovenWords = (call.unprovenWords ?? 0) + 1;
  const message = 'what was said of its outcome is signed with a key that counts no more';
  const warned = warn(run, 'decision_unproven', `${attemptKeyOf(run, call)}: ${message}`);
  if (unprovenWords >= UNPROVEN_WORDS_MAX) {
    return moved(stopUnknown(settleCall(warned, call, unknownResult(warned, call)), call));
  }
  const again = 'The answer before this question is no longer proven.';
  return { kind: 'moved', step: doubt(warned, { ...call, unprovenWords }, again) };
}

/** Nothing happened under this attempt and nothing can any more: the next attempt may start. */
function again(run: OpenRun, call: ReturnedStage): StationResult {
  if (call.attempt >= EXECUTIONS_MAX) {
    const message = `Nothing was done: ${call.attempt} attempts ended without an answer, none took effect.`;
    const known = withoutDoubt(run, call);
    return done(run, known, errorResult(run, known, { code: 'execution_error', message }));
  }
  const { inDoubt: _, unserved: __, ...base } = { ...baseOf(call), attempt: call.attempt + 1 };
  // What let the parent of a fork do it does not let the fork.
  if (run.forked?.regrant.includes(call.id)) return go(run, { ...base, stage: 'checked' });
  return go(run, { ...base, stage: 'granted', grant: call.grant });
}

/** Nobody knows; the next attempt has the same key, and whoever serves the tool recognises it (G117). */
function repeat(run: OpenRun, call: ReturnedStage): StationResult {
  if (toolOf(run, call.tool)?.onLost !== 'repeat_with_key') {
    const message = `The tool ${call.tool} was not declared to repeat with its key when the run began.`;
    return ofFinding(run, call, { kind: 'unknown', message });
  }
  if (call.attempt >= EXECUTIONS_MAX) {
    const message = `${call.attempt} attempts with its key ended without an answer.`;
    return ofFinding(run, call, { kind: 'unknown', message });
  }
  const attempt = call.attempt + 1;
  return go(run, {
    ...baseOf(call),
    attempt,
    inDoubt: true,
    stage: 'granted',
    grant: call.grant,
  });
}

/**
 * Nobody works on the queue of its tool. A call that changes something is unavailable when the ledger says that
 * nothing was done; what else became of it a person says.
 */
function unserved(run: OpenRun, call: ReturnedStage): StationResult {
  const warned = warn(run, 'queue_unserved', unservedBecause(run, call));
  const tool = toolOf(run, call.tool);
  return tool === undefined || isMutating(tool)
    ? findOut(warned, { ...call, unserved: true }, unservedBecause(run, call))
    : unavailable(warned, call);
}

function unavailable(run: OpenRun, call: ReturnedStage): StationResult {
  const message = `Nothing was done: ${unservedBecause(run, call)}`;
  return done(run, call, errorResult(run, call, { code: 'tool_unavailable', message }));
}

function unservedBecause(run: OpenRun, { tool, grant }: ReturnedStage): string {
  const { queue = '' } = queueOf(run, tool, grant);
  return `no worker of the task queue ${queue} took the call of ${tool}.`;
}

type FailureFact = Extract<ReturnedStage['fact'], { kind: 'failure' }>;

function ofFailure(run: OpenRun, call: ReturnedStage, fact: FailureFact): StationResult {
  const tool = toolOf(run, call.tool);
  const mutating = tool === undefined || isMutating(tool);
  const { failure } = fact;
  if (fact.outOfTime) {
    const result = mutating
      ? unknownResult(run, call)
      : errorResult(run, call, { code: 'timeout', message: 'The time budget of the run ended.' });
    return moved(exceed(settleCall(run, call, result), 'timeout'));
  }
  if (failure.code === 'GrantInvalid' && call.inDoubt === undefined) {
    const denied = { code: 'permission_denied', message: failure.message } as const;
    return done(run, call, errorResult(run, call, denied));
  }
  if (mutating) return findOut(run, call, failure.message);
  const isGone = failure.code === 'ToolUnavailable';
  const other: ToolResultCode = isGone ? 'tool_unavailable' : 'execution_error';
  const code = failure.timedOut ? 'timeout' : other;
  return done(run, call, errorResult(run, call, { code, message: failure.message }));
}

function done(run: OpenRun, call: Call, result: ToolResult): StationResult {
  return moved(settleCall(run, call, result));
}

function moved(run: OpenRun): StationResult {
  return { kind: 'moved', step: only(run) };
}
