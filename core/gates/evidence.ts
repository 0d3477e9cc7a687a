/**
 * Gate: an answer needs its declared evidence (G22): tools that have returned ok, with an observation that
 * meets the predicate where there is one, or places of the dataflow state.
 */
import { holds } from '../condition.js';
import { depthOf, SHAPE_DEPTH_MAX } from '../json-depth.js';
import type { Json } from '../json.js';
import type { OpenRun } from '../run.js';
import type { Evidence } from '../task.js';
import { PASS, type GateVerdict } from './gate.js';
import { stateOf } from './state.js';

const REJECTIONS_MAX = 1;
export const STATE_PREFIX = 'state.';

export function evidenceGate(run: OpenRun): GateVerdict {
  const missing = (run.start.task.requiredEvidence ?? []).filter((one) => !hasEvidence(run, one));
  if (missing.length === 0) return PASS;
  const names = missing.map((evidence) => `${evidence.id} (${evidence.satisfiedBy})`).join(', ');
  if (run.tally.evidenceRejections >= REJECTIONS_MAX) {
    return {
      kind: 'stop',
      reason: 'evidence_missing',
      words: { detail: names, nextSafeAction: `Provide the missing evidence: ${names}.` },
    };
  }
  const tally = { ...run.tally, evidenceRejections: run.tally.evidenceRejections + 1 };
  return {
    kind: 'again',
    run: { ...run, tally },
    transition: 'completion_rejected',
    prompt: `Your answer is not accepted yet. Evidence is missing: ${names}. Get it first.`,
  };
}

export function hasEvidence(run: OpenRun, { id, satisfiedBy, predicate }: Evidence): boolean {
  if (satisfiedBy.startsWith(STATE_PREFIX)) {
    const subject = { state: stateOf(run) };
    const path = predicate === undefined ? satisfiedBy : `${satisfiedBy}.${predicate.path}`;
    return holds({ exists: true, ...predicate, path }, subject);
  }
  return predicate === undefined
    ? run.evidence.includes(satisfiedBy)
    : (run.proven ?? []).includes(id);
}

/** Ids of the evidence that a whole observation of a tool proves by its predicate. */
export function provenBy(required: readonly Evidence[], tool: string, text: string) {
  const waiting = required.filter((one) => one.satisfiedBy === tool && one.predicate !== undefined);
  if (waiting.length === 0) return [];
  const observation = jsonOf(text);
  return waiting
    .filter((one) => one.predicate !== undefined && holds(one.predicate, observation))
    .map((one) => one.id);
}

/** A text that is no JSON has nothing that a path could name. */
function jsonOf(text: string): Json {
  try {
    const value = JSON.parse(text) as Json;
    return depthOf(value) > SHAPE_DEPTH_MAX ? null : value;
  } catch {
    return null;
  }
}
