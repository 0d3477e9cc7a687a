/**
 * What becomes of what a run has open when another run begins from its state.
 * Invariant: a call that may have had an effect never begins anew by itself; nobody's approval is taken over.
 */
import type { Ask } from '../state/ask.js';
import type { Call } from '../state/call.js';
import type { InFlight } from '../state/carrier.js';
import type { StandingGrant } from '../state/grant.js';
import type { Run } from '../state/run.js';
import type { RunChild } from '../state/run-child.js';
import { isMutating } from '../state/tool.js';
import { WORK } from '../step/inflight.js';

/** `outcome_unknown`: by default a person is asked what became of it (setting `onOutcomeUnknown`). */
export type ForkedWork = 'begins_anew' | 'recorded_outcome' | 'outcome_unknown';

export interface WorkInFlight {
  readonly effectId: string;
  readonly kind: InFlight['kind'];
  readonly tool?: string;
  readonly callId?: string;
  readonly becomes: ForkedWork;
}

export interface ForkBeginning {
  /** Open questions, each of which is put to people again. */
  readonly askedAnew: readonly Pick<Ask, 'id' | 'kind' | 'tool' | 'callId'>[];
  /** Standing approvals that the fork does not have. */
  readonly droppedGrants: readonly Pick<StandingGrant, 'id' | 'tool' | 'usesLeft'>[];
  /** Sub-agents without an outcome, whose calls get the result `not_executed`. */
  readonly notExecuted: readonly Pick<RunChild, 'n' | 'name'>[];
  readonly inFlight: readonly WorkInFlight[];
}

/** `isRecorded`: the record has a known outcome of this call of the turn at hand. */
export function forkBeginning(run: Run, isRecorded: (call: Call) => boolean): ForkBeginning {
  const { asks, grants = [], children = [], inflight } = run;
  return {
    askedAnew: asks
      .filter(({ outcome }) => outcome === 'pending')
      .map(({ id, kind, tool, callId }) => ({
        id,
        kind,
        ...(tool !== undefined && { tool }),
        ...(callId !== undefined && { callId }),
      })),
    droppedGrants: grants.map(({ id, tool, usesLeft }) => ({ id, tool, usesLeft })),
    notExecuted: children.map(({ n, name }) => ({ n, name })),
    inFlight: Object.entries(inflight)
      .filter(([, { kind }]) => (WORK as readonly string[]).includes(kind))
      .map(([effectId, { kind }]) => workOf(run, { effectId, kind }, isRecorded)),
  };
}

/** A tool that the run does not know counts as one with effects. */
export function hasEffects(run: Run, tool: string): boolean {
  const known = run.frozen?.tools.find(({ name }) => name === tool);
  return known === undefined || isMutating(known);
}

/** An attempt of a call is in doubt, and the next one was not under way: of a fork, that one would have another key. */
export function isBetweenAttempts({ stage, inDoubt }: Call): boolean {
  return inDoubt === true && !WITH_ATTEMPT.includes(stage);
}

/** Stages that say themselves what became of the newest attempt, or that it is under way. */
const WITH_ATTEMPT: readonly Call['stage'][] = [
  'executing',
  'returned',
  'doubt',
  'delegated',
  'settled',
];

function workOf(
  run: Run,
  work: Pick<WorkInFlight, 'effectId' | 'kind'>,
  isRecorded: (call: Call) => boolean,
): WorkInFlight {
  const call = run.turn?.calls.find(
    (one) => one.stage === 'executing' && one.effectId === work.effectId,
  );
  if (call === undefined) return { ...work, becomes: 'begins_anew' };
  const { id: callId, tool } = call;
  if (!hasEffects(run, tool)) return { ...work, tool, callId, becomes: 'begins_anew' };
  const becomes = isRecorded(call) ? 'recorded_outcome' : 'outcome_unknown';
  return { ...work, tool, callId, becomes };
}
