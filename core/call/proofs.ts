/**
 * Which results the completion of a run rests on: they are pinned (G78, G105).
 * Invariants: what first satisfied a piece of evidence or a criterion stays pinned, also when its tool is called again for
 * something else; of a tool that is only to have returned, the newest result is pinned.
 */
import { pin } from '../context/pinned.js';
import { hasEvidence, proofsFrom } from '../gates/evidence.js';
import { stateOf } from '../gates/state.js';
import { holds } from '../json/condition.js';
import type { Call } from '../state/call.js';
import type { OpenRun, PinnedResult } from '../state/run.js';
import { wireNameOf } from '../state/tool.js';
import type { Criterion, Evidence, Proof, Task } from '../state/task.js';
import { follows } from '../step/changes.js';

const TOOLS = 'tools.';
const STATE = 'state.';
/** Of what one result proves. */
const PROOF_CHARS_MAX = 200;

/** `before`: the run without this result, which was a success. */
export function pinProofs(before: OpenRun, run: OpenRun, result: PinnedResult): OpenRun {
  const { task } = run.start;
  if (!follows(run, 'pinnedProofs')) {
    const needed = new Set(evidenceOf(task).map((one) => one.satisfiedBy));
    return needed.has(result.tool) ? pin(run, [result], needed.size) : run;
  }
  const tools = toolsNeeded(task);
  const proofs = [
    ...evidenceOf(task)
      .filter((one) => isProof(one) && !hasEvidence(before, one) && hasEvidence(run, one))
      .map(({ id }) => `evidence ${id}`),
    ...stateCriteria(task)
      .filter((one) => !isMet(before, one) && isMet(run, one))
      .map(({ id }) => `criterion ${id}`),
  ];
  const proof = proofs.join(', ').slice(0, PROOF_CHARS_MAX);
  const pins = proofs.length === 0 ? [] : [{ ...result, proof }];
  const all = tools.has(wireNameOf(result.tool)) ? [...pins, result] : pins;
  const places = tools.size + evidenceOf(task).filter(isProof).length + stateCriteria(task).length;
  return all.length === 0 ? run : pin(run, all, places);
}

function evidenceOf({ requiredEvidence = [] }: Task): readonly Evidence[] {
  return requiredEvidence;
}

/** More than that a tool has returned. */
function isProof({ satisfiedBy, predicate }: Evidence): boolean {
  return predicate !== undefined || satisfiedBy.startsWith(STATE);
}

/** As criteria name them. */
function toolsNeeded({ requiredEvidence = [], successCriteria = [] }: Task): ReadonlySet<string> {
  const byEvidence = requiredEvidence
    .filter(({ satisfiedBy }) => !satisfiedBy.startsWith(STATE))
    .map(({ satisfiedBy }) => wireNameOf(satisfiedBy));
  const byCriteria = successCriteria
    .filter(({ when }) => when.path.startsWith(TOOLS))
    .map(({ when }) => when.path.slice(TOOLS.length));
  return new Set([...byEvidence, ...byCriteria]);
}

function stateCriteria({ successCriteria = [] }: Task): readonly Criterion[] {
  return successCriteria.filter(({ when }) => when.path.startsWith(STATE));
}

function isMet(run: OpenRun, { when }: Criterion): boolean {
  return holds(when, { state: stateOf(run) });
}

/** Proofs that only the activity can judge when the result is large. */
export function proofsFor(run: OpenRun, { tool, flow }: Call): { proofs?: readonly Proof[] } {
  if (run.start.task.requiredEvidence === undefined) return {};
  const proofs = proofsFrom(run, { tool, path: flow?.outputPath });
  return proofs.length === 0 ? {} : { proofs };
}
