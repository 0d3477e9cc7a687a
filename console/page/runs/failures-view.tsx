/** Runs that ended without completing, in groups of those that ended alike. */
import type { VNode } from 'preact';
import type { Failures, FailureGroup, Person } from '../data/api-types.js';
import { cost, dateTime, exactTime, plural, whole, words } from '../parts/format.js';
import { InertLine } from '../parts/inert.js';
import { runPath } from '../parts/paths.js';
import { TableHead } from '../parts/table-head.js';
import { refusalText, useFetched } from '../parts/use-fetched.js';
import { useTitle } from '../parts/use-title.js';

const COLUMNS = ['Runs', 'Stop reason', 'Rule', 'Last error', 'Over time', 'Cost', 'Newest'];
const SPARK = { width: 120, height: 24 };

export function FailuresView({ me }: { readonly me: Person }): VNode {
  useTitle('Failures');
  const { value, refusal } = useFetched<Failures>('/v1/failures');
  return (
    <section class="runs" aria-label="Failures">
      <header class="page-head">
        <h1>Failures</h1>
        <p class="help">
          Tenant <InertLine text={me.tenant} />
        </p>
      </header>
      {value === undefined ? (
        <p class="empty quiet" role="status">
          {refusal === undefined
            ? 'Fetching the failures …'
            : refusalText(refusal, 'The store has no failures.')}
        </p>
      ) : (
        <Groups failures={value} />
      )}
    </section>
  );
}

function Groups({ failures }: { readonly failures: Failures }): VNode {
  const { groups, ended, failed, since, truncated } = failures;
  return (
    <>
      <p>
        {`${whole(failed)} of ${plural(ended, 'run')} that ended since ${dateTime(since)} did not complete.`}
        {truncated && ' There are more runs than are looked at.'}
      </p>
      <table class="panel run-table" hidden={groups.length === 0}>
        <TableHead columns={COLUMNS} />
        <tbody>
          {groups.map((group) => (
            <Group key={JSON.stringify([group.newest.runId, group.count])} group={group} />
          ))}
        </tbody>
      </table>
    </>
  );
}

function Group({ group }: { readonly group: FailureGroup }): VNode {
  const { stopReason, detail, rule, tool, code, count, over, costMicroUsd, newest } = group;
  return (
    <tr>
      <td class="figure">{whole(count)}</td>
      <td>
        {words(stopReason)}
        {detail !== null && (
          <span class="run-goal">
            <InertLine text={detail} max={140} />
          </span>
        )}
      </td>
      <td>{rule === null ? '–' : <InertLine text={rule} max={60} />}</td>
      <td>{tool === null ? '–' : <InertLine text={`${tool} ${code ?? ''}`} max={100} />}</td>
      <td>
        <SparkLine counts={over} />
      </td>
      <td class="figure">{cost(costMicroUsd)}</td>
      <td class="run-cell">
        <a href={runPath(newest.runId)}>
          <InertLine text={newest.runId} max={80} />
        </a>
        <time class="run-goal" title={exactTime(newest.endedAt)}>
          {dateTime(newest.endedAt)}
        </time>
      </td>
    </tr>
  );
}

/** How many ended in each part of the time; the numbers stand in its name. */
function SparkLine({ counts }: { readonly counts: readonly number[] }): VNode {
  const most = Math.max(1, ...counts);
  const step = SPARK.width / Math.max(1, counts.length);
  const name = `Runs over time, the oldest first: ${counts.join(', ')}`;
  return (
    <svg {...SPARK} role="img" aria-label={name}>
      {counts.map((count, index) => {
        const height = (count / most) * SPARK.height;
        return (
          <rect
            key={index}
            x={index * step}
            y={SPARK.height - height}
            width={Math.max(1, step - 1)}
            height={height}
            fill="currentColor"
          />
        );
      })}
    </svg>
  );
}
