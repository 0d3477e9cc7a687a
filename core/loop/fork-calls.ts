/**
 * The calls of the turn at hand, as a fork takes them over.
 * Invariants: K2 and K3 of fork.ts.
 */
import type { StoredText } from '../json/json.js';
import type { Call, CallFact, ReturnedStage } from '../state/call.js';
import type { Grant } from '../state/effect.js';
import type { OpenRun, Turn } from '../state/run.js';
import { UNRECORDED } from '../call/doubt.js';
import { follows } from '../step/changes.js';
import { attemptKeyOf, baseOf } from '../step/open-work.js';
import { hasEffects } from './fork-beginning.js';

interface Known {
  /** Those that the fork goes on by. */
  readonly rules: number;
  /** By call id, as the results. */
  readonly outcomes: { readonly [callId: string]: CallFact };
  readonly results?: { readonly [callId: string]: StoredText };
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
  if (isGiven || !follows(known, 'parentsKey')) return takenOver(run, call, known);
  const taken = isBetweenAttempts(run, call)
    ? returned(run, call, IN_DOUBT)
    : takenOver(run, call, known);
  return taken.stage === 'returned' && call.stage !== 'delegated'
    ? { ...taken, parentKey: attemptKeyOf(run, call) }
    : taken;
}

/** An attempt of it is in doubt, and the next one was not under way: of the fork, that one would have another key. */
function isBetweenAttempts(run: OpenRun, { stage, inDoubt, tool }: Call): boolean {
  return inDoubt === true && hasEffects(run, tool) && !OF_AN_ATTEMPT.includes(stage);
}

const OF_AN_ATTEMPT: readonly Call['stage'][] = [
  'executing',
  'returned',
  'doubt',
  'delegated',
  'settled',
];

function takenOver(run: OpenRun, call: Call, { outcomes, results: given = {} }: Known): Call {
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
      return returned(run, call, outcomes[call.id] ?? IN_DOUBT);
    }
    case 'doubt':
      return returned(run, call, IN_DOUBT);
  }
}

const NOT_EXECUTED =
  'Not executed: its sub-agent was at work when the fork began, and works for the parent alone.';

const IN_DOUBT: CallFact = {
  kind: 'finding',
  finding: { kind: 'unknown', message: UNRECORDED },
};

function returned(run: OpenRun, call: Call, fact: CallFact): ReturnedStage {
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
