/**
 * Gate: an answer needs its declared evidence (G22): tools that have returned ok, with an observation that
 * meets the predicate where there is one, or places of the dataflow state.
 * Invariant: a predicate is judged on the whole observation when it is made, by whoever has it: the run a
 * text that lies in it, the activity any other.
 */
import { covers, namesBelow, parsePath } from '../dataflow/state-path.js';
import { holds } from '../json/condition.js';
import { depthOf, SHAPE_DEPTH_MAX } from '../json/json-depth.js';
import type { Json } from '../json/json.js';
import type { OpenRun } from '../state/run.js';
import type { Evidence, Proof } from '../state/task.js';
import { PASS, type GateVerdict } from './gate.js';

const REJECTIONS_MAX = 1;

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
  if ((run.proven ?? []).includes(id)) return true;
  if (predicate !== undefined) return false;
  const path = parsePath(satisfiedBy);
  if (path === undefined) return run.evidence.includes(satisfiedBy);
  return Object.keys(run.state ?? {}).some((written) => covers(path, written));
}

/** Where an observation comes from: a tool, and the path of the state that it is for. */
export interface Observed {
  readonly tool: string;
  readonly path?: string | undefined;
}

/** The proofs that an observation can give beyond being there. */
export function proofsFrom(run: OpenRun, { tool, path }: Observed): readonly Proof[] {
  return (run.start.task.requiredEvidence ?? []).flatMap((evidence): readonly Proof[] => {
    const { id, satisfiedBy, predicate } = evidence;
    const wanted = parsePath(satisfiedBy);
    if (wanted === undefined) {
      return satisfiedBy === tool && predicate !== undefined ? [{ id, when: predicate }] : [];
    }
    if (path === undefined || !covers(path, wanted)) return [];
    const below = namesBelow(path, wanted);
    if (predicate !== undefined) {
      return [{ id, when: { ...predicate, path: [...below, predicate.path].join('.') } }];
    }
    return below.length === 0 ? [] : [{ id, when: { path: below.join('.'), exists: true } }];
  });
}

/** Ids of the evidence that a whole observation proves. */
export function provenBy(proofs: readonly Proof[], text: string): readonly string[] {
  if (proofs.length === 0) return [];
  const observation = jsonOf(text);
  return proofs.filter(({ when }) => holds(when, observation)).map(({ id }) => id);
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
