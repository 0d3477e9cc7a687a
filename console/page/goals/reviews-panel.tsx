/** Reviews: each a table of six answers. */
import type { VNode } from 'preact';
import { useRef } from 'preact/hooks';
import type { GoalReview } from '../data/api-types.js';
import { dateTime, words } from '../parts/format.js';
import { InertLine } from '../parts/inert.js';
import { TableHead } from '../parts/table-head.js';
import { EvidenceLinks } from './evidence-links.js';

type Question = keyof GoalReview['answers'];

const QUESTIONS: { readonly [question in Question]: string } = {
  objective_valid: 'Is the objective still valid?',
  progress: 'Which evidence proves progress?',
  within_budget: 'Is the goal within its budget?',
  done: 'Is the done condition met?',
  approval_needed: 'Is a person’s approval needed before the next step?',
  compact_or_handoff: 'Should compaction or a handoff happen now?',
};
const COLUMNS = ['Question', 'Answer', 'Because', 'Evidence'];
interface ReviewsPanelProps {
  readonly goalId: string;
  readonly reviews: readonly GoalReview[];
}

export function ReviewsPanel({ goalId, reviews }: ReviewsPanelProps): VNode {
  // A newer review does not close the one that somebody reads.
  const opened = useRef<number | undefined>(undefined);
  opened.current ??= reviews.at(-1)?.n;
  if (reviews.length === 0) return <p class="help">No review yet.</p>;
  return (
    <div class="goal-panel">
      {[...reviews].reverse().map((review) => (
        <details key={review.n} class="goal-review" open={review.n === opened.current}>
          <summary>
            {`Review ${review.n}, behind cycle ${review.cycle}, ${dateTime(review.at)}: `}
            <b>
              <InertLine text={words(review.decision)} max={100} />
            </b>
          </summary>
          <table class="panel goal-table">
            <TableHead columns={COLUMNS} />
            <tbody>
              {Object.entries(QUESTIONS).map(([name, question]) => (
                <AnswerRow
                  key={name}
                  goalId={goalId}
                  question={question}
                  answer={review.answers[name as Question]}
                />
              ))}
            </tbody>
          </table>
        </details>
      ))}
    </div>
  );
}

interface AnswerRowProps {
  readonly goalId: string;
  readonly question: string;
  readonly answer: GoalReview['answers'][Question];
}

function AnswerRow({
  goalId,
  question,
  answer: { answer, because, evidence },
}: AnswerRowProps): VNode {
  return (
    <tr>
      <th scope="row">{question}</th>
      <td>
        <InertLine text={answer} max={100} />
      </td>
      <td>
        <InertLine text={because} max={500} />
      </td>
      <td>
        <EvidenceLinks goalId={goalId} ids={evidence} />
      </td>
    </tr>
  );
}
