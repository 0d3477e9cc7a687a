/**
 * Gate: the task's success criteria (G23): pure conditions on what the run has, so that an answer alone is
 * no success.
 *
 * A criterion's path begins with what it looks at:
 *   `output…`        the answer as the task's output schema has it
 *   `answer`         the text of the answer, as far as it lies in the run
 *   `evidence.<id>`  true when this required evidence is there
 *   `tools.<name>`   true when this tool has returned ok; a dot in its name is written `__`
 *   `state…`         the dataflow state, as far as it lies in the run
 * One corrective turn, then the run stops `evidence_missing`, detail `success_criteria: <ids>`.
 */
import { holds } from '../json/condition.js';
import { toldText } from '../hooks/start.js';
import type { Json } from '../json/json.js';
import type { OpenRun, Turn } from '../state/run.js';
import type { Criterion } from '../state/task.js';
import { wireNameOf } from '../state/tool.js';
import { answerOf } from './answer.js';
import { domainReason } from './domain-reason.js';
import { hasEvidence } from './evidence.js';
import { PASS, type GateVerdict } from './gate.js';
import { stateOf } from './state.js';

const REJECTIONS_MAX = 1;

export function criteriaGate(run: OpenRun, turn: Turn): GateVerdict {
  const criteria = run.start.task.successCriteria ?? [];
  if (criteria.length === 0) return PASS;
  const subject = subjectOf(run, turn);
  const unmet = criteria.filter((criterion) => !holds(criterion.when, subject));
  const [first] = unmet;
  if (first === undefined) return PASS;
  const said = unmet.map(nameOf).join('; ');
  if (run.tally.criteriaRejections >= REJECTIONS_MAX) {
    const ids = unmet.map((criterion) => criterion.id).join(', ');
    return {
      kind: 'stop',
      reason: 'evidence_missing',
      words: {
        detail: domainReason(run, first.id) ?? `success_criteria: ${ids}`,
        nextSafeAction: `The answer does not meet: ${said}.`,
      },
    };
  }
  const tally = { ...run.tally, criteriaRejections: run.tally.criteriaRejections + 1 };
  return {
    kind: 'again',
    run: { ...run, tally },
    transition: 'completion_rejected',
    prompt: `Your answer is not accepted yet. It does not meet: ${said}.`,
  };
}

function nameOf({ id, description }: Criterion): string {
  return description === undefined ? id : `${id} (${description})`;
}

function subjectOf(run: OpenRun, turn: Turn): Json {
  const required = run.start.task.requiredEvidence ?? [];
  const evidence = required.filter((one) => hasEvidence(run, one)).map((one) => [one.id, true]);
  const tools = run.evidence.map((tool) => [wireNameOf(tool), true]);
  const text = answerOf(turn);
  const { output } = turn.reply;
  return {
    evidence: Object.fromEntries(evidence) as Json,
    tools: Object.fromEntries(tools) as Json,
    state: stateOf(run),
    ...(text !== undefined && { answer: toldText(text) }),
    ...(output?.ok && { output: output.value }),
  };
}
