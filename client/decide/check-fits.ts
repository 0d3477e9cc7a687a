/** An answer to the server of a tool is held against the form of its question before it is sent. */
import { answerProblem } from '../../connectors/index.js';
import type { Json } from '../../core/json/json.js';
import type { AskView } from '../../core/state/ask-view.js';
import { HoldfastError } from '../../core/state/errors.js';

/** Errors: DecisionRejected with the reason `malformed`; the question stays open. */
export async function checkFits(
  runId: string,
  { askId, elicitation }: Pick<AskView, 'askId' | 'elicitation'>,
  value: Json,
): Promise<void> {
  if (elicitation === undefined) return;
  const problem = await answerProblem(elicitation, value);
  if (problem === undefined) return;
  throw new HoldfastError(
    'DecisionRejected',
    `The answer was not sent: it does not fit the form of the question: ${problem}.`,
    {
      hint:
        elicitation.mode === 'url'
          ? 'Answer accept when you have been at the address, or decline, or cancel.'
          : 'Answer with JSON that fits the form of the question (see `holdfast approvals --json`), or decline, or cancel.',
      details: { reason: 'malformed', askId, runId },
    },
  );
}
