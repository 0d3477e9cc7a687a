/** The brief of a cycle: what its agent was told, and what was quoted to it as data. */
import type { VNode } from 'preact';
import { pathOf } from '../data/api.js';
import type { GoalBrief } from '../data/api-types.js';
import { Fact } from '../parts/fact.js';
import { whole } from '../parts/format.js';
import { InertBlock, InertLine } from '../parts/inert.js';
import { goalPath, runPath } from '../parts/paths.js';
import { TableHead } from '../parts/table-head.js';
import { useTitle } from '../parts/use-title.js';
import { refusalText, useFetched } from '../parts/use-fetched.js';

const COLUMNS = ['Section', 'Tokens (estimated)'];

interface BriefViewProps {
  readonly goalId: string;
  /** Number of the cycle; with the digest of a brief that a question names. */
  readonly cycle: string;
}

export function BriefView({ goalId, cycle }: BriefViewProps): VNode {
  useTitle('Brief');
  const [n = '', digest] = cycle.split('/');
  const query = new URLSearchParams({ n, ...(digest !== undefined && { digest }) });
  const path = `${pathOf('goals', goalId, 'brief')}?${query.toString()}`;
  const { value, refusal } = useFetched<GoalBrief>(path);
  return (
    <article class="run" aria-label="Brief">
      <p class="run-links">
        <a href={goalPath(goalId)}>
          ← <InertLine text={goalId} max={96} />
        </a>
      </p>
      <div class="card-title">
        <h1>{`Brief of cycle ${n}`}</h1>
      </div>
      {value !== undefined && <Shown brief={value} />}
      {value === undefined && (
        <p class="empty quiet" role="status">
          {refusal === undefined
            ? 'Fetching the brief …'
            : refusalText(refusal, 'The store does not have this brief.')}
        </p>
      )}
    </article>
  );
}

function Shown({ brief }: { readonly brief: GoalBrief }): VNode {
  const { runId, agent, tokens, sections, task, context } = brief;
  return (
    <>
      <dl class="facts">
        {runId !== undefined && (
          <Fact name="Run">
            <a href={runPath(runId)}>
              <InertLine text={runId} max={128} />
            </a>
          </Fact>
        )}
        {agent !== undefined && (
          <Fact name="Agent">
            <InertLine text={agent} max={128} />
          </Fact>
        )}
        {tokens !== undefined && <Fact name="Tokens">{`about ${whole(tokens)}`}</Fact>}
      </dl>
      <table class="panel goal-table" aria-label="Tokens by section">
        <TableHead columns={COLUMNS} />
        <tbody>
          {Object.entries(sections).map(([name, count]) => (
            <tr key={name}>
              <th scope="row">
                <InertLine text={name} max={60} />
              </th>
              <td class="figure">{whole(count)}</td>
            </tr>
          ))}
        </tbody>
      </table>
      <section>
        <h2>The task: objective, constraints, words of people</h2>
        <InertBlock text={task} />
      </section>
      <section>
        <h2>Quoted as data</h2>
        <ol class="goal-log">
          {context.map(({ origin, cycle, by, text }, place) => (
            <li key={place}>
              <span class="badge untrusted">
                <InertLine text={origin} max={20} />
              </span>{' '}
              <span class="help">
                {`cycle ${cycle}, by `}
                <InertLine text={by} max={80} />
              </span>
              <InertBlock text={text} />
            </li>
          ))}
        </ol>
      </section>
    </>
  );
}
