/**
 * The calls of the turn at hand, as a fork takes them over.
 * Invariants: K2 and K3 of fork.ts.
 */
import type { StoredText } from '../json/json.js';
import type { Call, CallFact, ReturnedStage } from '../state/call.js';
import type { Grant } from '../state/effect.js';
import type { Fork } from '../state/fork.js';
import type { OpenRun, Turn } from '../state/run.js';
import { attemptKeyOf, baseOf } from '../step/open-work.js';
import { hasEffects, isBetweenAttempts } from './fork-beginning.js';

interface Known extends Pick<Fork, 'outcomes' | 'results'> {
  readonly namesKeys: boolean;
}

export function turnOf(run: OpenRun, turn: Turn, fork: Known): Turn {
  const { judgement, ...rest } = turn;
  return {
    ...rest,
    ...(judgement !== undefined && judgement !== 'running' && { judgement }),
    calls: turn.calls.map((call) => callOf(run, call, fork)),
  };
}

function callOf(run: OpenRun, call: Call, known: Known): Call {
  const isGiven = known.results?.[call.id] !== undefined;
  if (isGiven || !known.namesKeys) return begun(run, call, known);
  // As far as anybody knows then, the attempt that was about to be made was not made.
  const taken = isBetweenAttempts(call)
    ? returned(run, { ...call, attempt: call.attempt - 1 }, outcomeOf(run, call, known))
    : begun(run, call, known);
  return taken.stage === 'returned' && call.stage !== 'delegated'
    ? { ...taken, parentKey: attemptKeyOf(run, call) }
    : taken;
}

function outcomeOf(run: OpenRun, call: Call, { outcomes, namesKeys }: Known): CallFact {
  const message = namesKeys ? doubtOf(run, call) : UNRECORDED;
  return outcomes[call.id] ?? { kind: 'finding', finding: { kind: 'unknown', message } };
}

const UNRECORDED = 'The record does not say how this call of the parent ended.';

/** What a person should know who says what became of it. */
function doubtOf({ forked }: OpenRun, { id, stage }: Call): string {
  const isUnderWay = stage === 'executing' ? ' It may still be under way.' : '';
  const isForeign =
    forked !== undefined && forked.keysKnown !== true && forked.regrant.includes(id);
  const other = isForeign
    ? ` The parent is a fork as well: ${forked.runId.slice(0, 100)} may have made the call, under another key.`
    : '';
  return `${UNRECORDED}${isUnderWay}${other} Done again, the call has a key of the fork.`;
}

/** As the fork begins with it. */
function begun(run: OpenRun, call: Call, known: Known): Call {
  const { results: given = {} } = known;
  const content = given[call.id];
  if (call.stage === 'settled') {
    const { after, ...settled } = call;
    const result = content === undefined ? call.result : okOf(call.result, content);
    return { ...settled, result, ...(after === 'done' && { after }) };
  }
  if (content !== undefined)
    return returned(run, call, { kind: 'outcome', outcome: { kind: 'ok', content } });
  switch (call.stage) {
    case 'proposed':
    case 'checked':
    case 'hooked':
    case 'returned':
      return call;
    case 'checking':
    case 'rechecked':
      return { ...baseOf(call), stage: 'proposed', check: { ok: true, unchecked: true } };
    case 'hooking':
    case 'waiting':
    case 'granted':
      return { ...baseOf(call), stage: 'checked' };
    case 'asking': {
      const { elicited: _, answered: __, ...base } = baseOf(call);
      return { ...base, stage: 'checked' };
    }
    case 'delegated':
      return returned(run, call, {
        kind: 'outcome',
        outcome: { kind: 'error', code: 'not_executed', message: NOT_EXECUTED },
      });
    case 'executing': {
      if (!hasEffects(run, call.tool)) return { ...baseOf(call), stage: 'checked' };
      return returned(run, call, outcomeOf(run, call, known));
    }
    case 'doubt':
      return returned(run, call, outcomeOf(run, call, { ...known, outcomes: {} }));
  }
}

const NOT_EXECUTED =
  'Not executed: its sub-agent was at work when the fork began, and works for the parent alone.';

export function returned(run: OpenRun, call: Call, fact: CallFact): ReturnedStage {
  return {
    ...baseOf(call),
    stage: 'returned',
    grant: 'grant' in call && call.grant !== undefined ? call.grant : nobodys(run, call),
    startedAt: run.now,
    durationMs: 0,
    fact,
  };
}

/** Of a call whose result is given: nothing is executed by it. */
function nobodys(run: OpenRun, { digest }: Call): Grant {
  const policyVersion = run.frozen.policy.version;
  return { basis: 'policy', reference: 'fork', digest, policyVersion, approvedBy: [] };
}

type Settled = Extract<Call, { stage: 'settled' }>['result'];

function okOf(given: Settled, content: StoredText): Settled {
  const { code: _, ...result } = given;
  return { ...result, status: 'ok', isError: false, content };
}
