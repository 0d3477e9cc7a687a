/**
 * Gate: an answer needs its declared evidence (G22): tools that must have returned ok, or paths of the state
 * that must be written.
 */
import { placeOf } from '../call/references.js';
import { parsePath } from '../call/state-path.js';
import { PASS, type GateVerdict } from './gate.js';
import type { OpenRun } from '../run.js';

const REJECTIONS_MAX = 1;

export function evidenceGate(run: OpenRun): GateVerdict {
  const missing = (run.start.task.requiredEvidence ?? []).filter(
    ({ satisfiedBy }) => !run.evidence.includes(satisfiedBy) && !isWritten(run, satisfiedBy),
  );
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

function isWritten(run: OpenRun, name: string): boolean {
  const path = parsePath(name);
  return path !== undefined && placeOf(run.state ?? {}, path) !== undefined;
}
