/**
 * The one result of a call, with its counters, its breaker and its event, and the hooks that see the result (C47).
 * Invariants: only this file moves a call to 'settled'; PostToolUse and PostToolUseFailure hooks see only what an
 * executor did, are awaited, and can undo nothing.
 */
import { pathWritten, withValue } from '../dataflow/state.js';
import { proofsFrom, provenBy } from '../gates/evidence.js';
import { hooksFor, startHooks, toldText } from '../hooks/start.js';
import type { StoredText } from '../json/json.js';
import { ATTACHMENTS_MAX, RESULT_ATTACHMENTS_MAX } from '../state/attachment.js';
import { countResult, noteAction } from '../limits/observed-results.js';
import {
  type Call,
  type DoubtStage,
  type ReturnedStage,
  type SettledStage,
} from '../state/call.js';
import type { HookPoint } from '../state/hook.js';
import { type OpenRun, type Tally, type Turn, type Step, hasHooks } from '../state/run.js';
import {
  DENIED_CODES,
  INVALID_CODES,
  type ToolResult,
  type ToolResultCode,
} from '../state/tool-result.js';
import { attemptKeyOf, keyOf, retireAsks, withCall, baseOf } from '../step/open-work.js';
import { emit } from '../step/outbox.js';
import { stop } from '../step/stop.js';
import { pinProofs } from './proofs.js';

/** Gives a call its one result. */
export function settleCall(run: OpenRun, call: Call, given: ToolResult): OpenRun {
  const result = mayBelieve(call, given) ? given : { ...given, ...unknownOf(run, call) };
  const settled = withCall(run, { ...baseOf(call), stage: 'settled', result });
  const path = call.flow === undefined ? undefined : pathWritten(settled, call, result);
  const counted: OpenRun = {
    ...retireAsks(
      path === undefined ? settled : withValue(settled, path, result),
      (ask) => ask.callId === call.id,
    ),
    tally: tallied(run.tally, call, result),
    breakers: countResult(run.breakers, call.tool, result),
    ...observed(run, call, { ...result, path }),
  };
  const { requiredEvidence, successCriteria } = run.start.task;
  const proves = result.status === 'ok' && (requiredEvidence ?? successCriteria) !== undefined;
  const told = { tool: call.tool, content: result.content };
  const pinned = proves ? pinProofs(run, counted, told) : counted;
  return announce(noteAction(pinned, call, result), call, { ...result, path });
}

/** What a successful call proves for the completion gates (G22). */
function observed(run: OpenRun, call: Call, { status, content, path }: Told) {
  if (status !== 'ok') return {};
  const evidence = run.evidence.includes(call.tool) ? run.evidence : [...run.evidence, call.tool];
  if (run.start.task.requiredEvidence === undefined) return { evidence };
  const proofs = proofsFrom(run, { tool: call.tool, path });
  const ids = 'text' in content ? provenBy(proofs, content.text) : provesOf(call);
  const { proven = [] } = run;
  const fresh = proofs.filter(({ id }) => ids.includes(id) && !proven.includes(id));
  return {
    evidence,
    ...(fresh.length > 0 && { proven: [...proven, ...fresh.map(({ id }) => id)] }),
  };
}

/** Of a result by reference the activity has seen the whole. */
function provesOf(call: Call): readonly string[] {
  if (call.stage !== 'returned') return [];
  const { fact } = call;
  if (fact.kind === 'outcome' && fact.outcome.kind === 'ok') return fact.outcome.proves ?? [];
  return fact.kind === 'finding' && fact.finding.kind === 'happened'
    ? (fact.finding.proves ?? [])
    : [];
}

/** What does not fit the tool's output schema is for the trace alone (G73). */
function returnedBy(call: Call): StoredText | undefined {
  if (call.stage !== 'returned') return undefined;
  const { fact } = call;
  if (fact.kind === 'outcome' && fact.outcome.kind === 'error') return fact.outcome.returned;
  const malformed =
    fact.kind === 'finding' && fact.finding.kind === 'happened' && fact.finding.malformed;
  return malformed ? fact.finding.content : undefined;
}

/** `path`: where the result became part of the state. */
type Told = ToolResult & { readonly path: string | undefined };

function announce(run: OpenRun, call: Call, result: Told): OpenRun {
  const { code, content, path, attachments } = result;
  const returned = returnedBy(call);
  const denied =
    code !== undefined && (code === 'tool_not_allowed' || INVALID_CODES.includes(code));
  const validated = denied
    ? emit(run, {
        type: 'validation',
        decision: 'deny',
        callId: call.id,
        tool: call.tool,
        code,
        ...('text' in content && { message: content.text }),
      })
    : run;
  return emit(validated, {
    type: 'tool_finished',
    callId: call.id,
    tool: call.tool,
    status: result.status,
    ...(code !== undefined && { code }),
    content,
    ...(attachments !== undefined && { attachments }),
    synthetic: result.synthetic,
    started: result.started,
    attempts: result.attempts,
    durationMs: result.durationMs,
    ...(call.costMicroUsd !== undefined && { costMicroUsd: call.costMicroUsd }),
    key: result.idempotencyKey,
    ...(call.child !== undefined && { child: call.child }),
    ...(path !== undefined && { path }),
    ...(returned !== undefined && { returned }),
  });
}

function tallied(tally: Tally, call: Call, result: ToolResult): Tally {
  const { code } = result;
  const next = { ...tally, toolAttempts: tally.toolAttempts + result.attempts };
  if (result.started) return next;
  if (call.stage === 'asking') return { ...next, inputRequests: next.inputRequests + 1 };
  if (result.status === 'skipped') return { ...next, skippedCalls: next.skippedCalls + 1 };
  if (code !== undefined && DENIED_CODES.includes(code))
    return { ...next, deniedCalls: next.deniedCalls + 1 };
  if (code !== undefined && INVALID_CODES.includes(code))
    return { ...next, invalidCalls: next.invalidCalls + 1 };
  return { ...next, notStartedCalls: next.notStartedCalls + 1 };
}

export function okResult(
  run: OpenRun,
  call: ReturnedStage,
  { content, attachments }: Pick<ToolResult, 'content' | 'attachments'>,
): ToolResult {
  const given = { ...executed(run, call), status: 'ok', isError: false, content } as const;
  if (attachments === undefined) return given;
  // The more calls a turn has, the fewer of each: all of them fit one payload.
  const most = Math.max(1, Math.floor(ATTACHMENTS_MAX / (run.turn?.calls.length ?? 1)));
  const kept = attachments.slice(0, Math.min(most, RESULT_ATTACHMENTS_MAX));
  const filesLeftOut = attachments.length - kept.length;
  return { ...given, attachments: kept, ...(filesLeftOut > 0 && { filesLeftOut }) };
}

export function errorResult(
  run: OpenRun,
  call: ReturnedStage,
  error: { readonly code: ToolResultCode; readonly message: string },
): ToolResult {
  const content = { text: error.message };
  return { ...executed(run, call), status: 'error', isError: true, code: error.code, content };
}

/** The result of a call of which nobody knows whether it happened; it names the key (G52). */
export function unknownResult(run: OpenRun, call: ReturnedStage | DoubtStage): ToolResult {
  return { ...executed(run, call), ...unknownOf(run, call) };
}

function unknownOf(run: OpenRun, call: Call) {
  const text = `Nobody knows whether this call took effect (key ${attemptKeyOf(run, call)}). Do not repeat it; a person must look.`;
  return {
    status: 'error',
    isError: true,
    code: 'outcome_unknown',
    content: { text },
    synthetic: true,
    idempotencyKey: attemptKeyOf(run, call),
  } as const;
}

/** What ends a call whose earlier attempt is in doubt does not say that nothing happened. */
function mayBelieve({ inDoubt }: Call, { status, code }: ToolResult): boolean {
  return inDoubt === undefined || status === 'ok' || code === 'malformed_result';
}

export function stopUnknown(run: OpenRun, call: Call): OpenRun {
  return stop(run, 'needs_human', {
    detail: 'outcome_unknown',
    nextSafeAction: `Find out whether ${call.tool} with key ${attemptKeyOf(run, call)} took effect.`,
  });
}

function executed(run: OpenRun, call: ReturnedStage | DoubtStage) {
  return {
    callId: call.id,
    synthetic: false,
    started: true,
    durationMs: call.stage === 'returned' ? call.durationMs : run.now - call.startedAt,
    attempts: call.attempts,
    idempotencyKey: keyOf(run, call),
  };
}

/** Starts the hooks of the first settled call that has not had them. */
export function afterCalls(run: OpenRun, turn: Turn): Step<OpenRun> | undefined {
  for (const call of turn.calls) {
    if (call.stage !== 'settled' || call.after !== undefined) continue;
    const point = pointOf(run, call);
    if (point !== undefined) return startAfter(run, call, point);
  }
  return undefined;
}

/** It has its result, and its hooks have seen it. */
export function isOver(run: OpenRun, call: Call): boolean {
  if (call.stage !== 'settled') return false;
  return call.after === 'done' || (call.after === undefined && pointOf(run, call) === undefined);
}

/** Hooks still have to see a result of this turn. */
export function awaitsHooks(run: OpenRun, turn: Turn): boolean {
  return turn.calls.some((call) => call.stage === 'settled' && !isOver(run, call));
}

function pointOf(run: OpenRun, { result, tool }: SettledStage): HookPoint | undefined {
  if (!result.started || result.synthetic) return undefined;
  const point = result.isError ? 'PostToolUseFailure' : 'PostToolUse';
  return hasHooks(run, point) && hooksFor(run, { point, tool }).length > 0 ? point : undefined;
}

function startAfter(run: OpenRun, call: SettledStage, point: HookPoint): Step<OpenRun> {
  const { code, content, isError } = call.result;
  const told = toldText(content);
  const payload = {
    tool_name: call.tool,
    tool_input: call.args,
    call_id: call.id,
    ...(isError ? { error: told, code: code ?? 'execution_error' } : { tool_response: told }),
  };
  const started = withCall(run, { ...call, after: 'running' });
  return startHooks(started, { point, callId: call.id, tool: call.tool }, payload);
}
