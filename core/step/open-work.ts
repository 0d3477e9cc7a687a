/**
 * What is open in a run: its questions to people, and the calls of its turn with their keys and stages.
 * Invariants: an idempotency key is `${taskId}:${step}[:${callIndex}][:r${revision}]`, prefixed by the tenant unless that
 * is 'default' (C28); retries, crashes and continue-as-new keep a key, a reset repeats it. A station refuses by a result
 * that the model sees, never by an exception.
 */
import type { AskView } from '../state/ask-view.js';
import type { Ask, Decided, Verdict, Vote } from '../state/ask.js';
import type { AskOutcome } from '../state/ask-kinds.js';
import type { Call, CallBase, OfParent } from '../state/call.js';
import type { Outlook } from '../controls/outlook.js';
import type { Effect } from '../state/effect.js';
import type { OpenRun, Run, Step } from '../state/run.js';
import type { ToolRecord } from '../state/tool.js';
import type { ToolResultCode } from '../state/tool-result.js';
import { follows } from './changes.js';

export function pendingAsks(run: Run): readonly Ask[] {
  return run.asks.filter((ask) => ask.outcome === 'pending');
}

export function askById(run: Run, askId: string): Ask | undefined {
  return run.asks.find((ask) => ask.id === askId);
}

export function replaceAsk<R extends Run>(run: R, ask: Ask): R {
  return { ...run, asks: run.asks.map((other) => (other.id === ask.id ? ask : other)) };
}

/** Closed asks that a late answer is told about. */
const CLOSED_ASKS_MAX = 50;

/** Forgets these asks, but for how they ended; open ones stay. */
export function retireAsks<R extends Run>(run: R, which: (ask: Ask) => boolean): R {
  const gone = run.asks.filter((ask) => ask.outcome !== 'pending' && which(ask));
  if (gone.length === 0) return run;
  const tells = follows(run, 'heldWords');
  const ended = gone.map((ask) => ({
    id: ask.id,
    ...(tells ? decidedOf(ask) : { outcome: ask.outcome }),
  }));
  return {
    ...run,
    asks: run.asks.filter((ask) => !gone.includes(ask)),
    closedAsks: [...run.closedAsks, ...ended].slice(-CLOSED_ASKS_MAX),
  };
}

/** What the votes of an ask have decided so far; 'expired' only when its time is up. */
export function outcomeOf(ask: Ask): AskOutcome {
  if (ask.outcome !== 'pending' || ask.correction !== undefined) return ask.outcome;
  const against = ask.votes.find((vote) => vote.decision !== 'approve');
  if (against !== undefined) return OUTCOMES[against.decision];
  const approvals = ask.votes.filter((vote) => vote.decision === 'approve');
  if (ask.kind !== 'outcome' && approvals.length >= ask.quorum) return 'approved';
  return ask.elapsed ? 'expired' : 'pending';
}

/** The same with whose word it was. */
export function decidedOf(ask: Ask): Decided {
  const outcome = outcomeOf(ask);
  const vote = ask.votes.findLast(({ decision }) => OUTCOMES[decision] === outcome);
  return { outcome, ...(vote !== undefined && { by: vote.by, at: vote.decidedAt }) };
}

const OUTCOMES: { readonly [kind in Vote['decision']]: AskOutcome } = {
  approve: 'approved',
  reject: 'rejected',
  modify: 'modified',
  replace: 'replaced',
  happened: 'happened',
  not_happened: 'not_happened',
  stop: 'stopped',
  answer: 'answered',
};

/** What people see of an ask; exactly what a decision on it must name. */
export function viewOf(ask: Ask): AskView {
  return {
    askId: ask.id,
    kind: ask.kind,
    ...(ask.callId !== undefined && { callId: ask.callId }),
    ...(ask.callKey !== undefined && { callKey: ask.callKey }),
    ...(ask.tool !== undefined && { tool: ask.tool }),
    ...(ask.toolVersion !== undefined && { toolVersion: ask.toolVersion }),
    ...(ask.args !== undefined && { args: ask.args }),
    argsHash: ask.digest,
    ...(ask.question !== undefined && { question: ask.question }),
    roles: ask.roles,
    quorum: ask.quorum,
    policyVersion: ask.policyVersion,
    ...(ask.requestedBy !== undefined && { requestedBy: ask.requestedBy }),
    openedAt: ask.openedAt,
    expiresAt: ask.expiresAt,
    ...(ask.escalation !== undefined && {
      escalation: { at: ask.escalation.at, roles: ask.escalation.roles },
    }),
    ...(ask.repeats !== undefined && { repeats: ask.repeats }),
    ...(ask.limits !== undefined && { limits: ask.limits }),
    ...(ask.card !== undefined && { card: ask.card }),
    ...(ask.answeredBy !== undefined && { answeredBy: ask.answeredBy }),
    ...(ask.elicitation !== undefined && { elicitation: ask.elicitation }),
  };
}

/** What the question about a call of this tool says of its card. */
export function cardOf(run: Run, tool: ToolRecord | undefined): Pick<Ask, 'card'> {
  const card = tool?.card;
  return card !== undefined && follows(run, 'cardShown') ? { card } : {};
}

/** Nothing when nobody waits. */
export function withVerdict<R extends Run>(
  run: R,
  ticket: string | undefined,
  verdict: Verdict,
): R {
  return ticket === undefined ? run : { ...run, verdicts: [...run.verdicts, { ticket, verdict }] };
}

export type StationResult =
  /** On to the next station, perhaps as a later stage. */
  | {
      readonly kind: 'go';
      readonly run: OpenRun;
      readonly call: Call;
      readonly effects?: readonly Effect[];
    }
  | {
      readonly kind: 'refuse';
      readonly code: ToolResultCode;
      readonly message: string;
      /** Ends the run (C9). */
      readonly terminal: boolean;
      /** The run with what the station has told meanwhile; undefined: as it was. */
      readonly run?: OpenRun;
      readonly effects?: readonly Effect[];
    }
  /** The call has moved and something was started, or the run has moved on otherwise. */
  | { readonly kind: 'moved'; readonly step: Step<OpenRun> }
  | { readonly kind: 'wait' };

export function go(run: OpenRun, call: Call): StationResult {
  return { kind: 'go', run, call };
}

export function refuse(
  code: ToolResultCode,
  message: string,
  terminal = false,
): Extract<StationResult, { kind: 'refuse' }> {
  return { kind: 'refuse', code, message, terminal };
}

/** Puts a call's new stage in its place. */
export function withCall(run: OpenRun, call: Call): OpenRun {
  if (run.turn === undefined) return run;
  const calls = run.turn.calls.map((other) => (other.index === call.index ? call : other));
  return { ...run, turn: { ...run.turn, calls } };
}

export function keyOf(run: Run, call: Pick<Call, 'callKey' | 'revision'>): string {
  const key = `${run.taskId}:${revisedKey(call)}`;
  return run.tenant === 'default' ? key : `${run.tenant}/${key}`;
}

/** The key under which the newest attempt of a call was made, by the run or by the one that it is a fork of. */
export function attemptKeyOf(run: Run, call: Call): string {
  return parentKeyOf(call).parentKey ?? keyOf(run, call);
}

/** For a stage in which the newest attempt is still the same. */
export function parentKeyOf(call: Call): OfParent {
  const { parentKey } = call as OfParent;
  return parentKey === undefined ? {} : { parentKey };
}

/** `step`, or `step:index` in a reply of several calls. */
export function callKeyOf(step: number, index: number, callsInReply: number): string {
  return callsInReply === 1 ? String(step) : `${step}:${index}`;
}

/** `${callKey}[:rN]`: names the call in keys and asks. */
export function revisedKey(call: Pick<Call, 'callKey' | 'revision'>): string {
  return call.revision === 0 ? call.callKey : `${call.callKey}:r${call.revision}`;
}

/** The call's fields that every stage has, for making the next stage. */
export function baseOf(call: Call): CallBase {
  const { id, index, callKey, revision, tool, toolVersion, args, digest } = call;
  const { attempt, attempts, handedOver, corrected, flow, repeatAsks, unprovenWords, outlook } =
    call;
  const { inDoubt, outdated, unserved, costMicroUsd, elicited, answered, child, passed } = call;
  const { elsewhere } = call;
  return {
    id,
    index,
    callKey,
    revision,
    tool,
    toolVersion,
    args,
    digest,
    attempt,
    attempts,
    ...(inDoubt !== undefined && { inDoubt }),
    ...(outdated !== undefined && { outdated }),
    ...(unserved !== undefined && { unserved }),
    ...(costMicroUsd !== undefined && { costMicroUsd }),
    ...(handedOver !== undefined && { handedOver }),
    ...(corrected !== undefined && { corrected }),
    ...(flow !== undefined && { flow }),
    ...(repeatAsks !== undefined && { repeatAsks }),
    ...(unprovenWords !== undefined && { unprovenWords }),
    ...(outlook !== undefined && { outlook }),
    ...(elicited !== undefined && { elicited }),
    ...(answered !== undefined && { answered }),
    ...(child !== undefined && { child }),
    ...(passed !== undefined && { passed }),
    ...(elsewhere !== undefined && { elsewhere }),
  };
}

/** The same for arguments that have just been checked: what was said of others is forgotten. */
export function withOutlook(
  call: Call,
  { outlook }: { readonly outlook?: Outlook | undefined },
): CallBase {
  const { outlook: _, ...base } = baseOf(call);
  return { ...base, ...(outlook !== undefined && { outlook }) };
}

/** It was handed to an executor before, and counted as a tool call then. */
export function wasHandedOver(call: Pick<CallBase, 'attempt' | 'handedOver'>): boolean {
  return call.attempt > 1 || call.handedOver === true;
}
