/** Runs that ended without completing, in groups of those that ended alike. */
import type { VNode } from 'preact';
import { useState } from 'preact/hooks';
import { get, isRefusal } from '../data/api.js';
import type { Failures, FailureGroup, Person } from '../data/api-types.js';
import { usePoll } from '../data/use-poll.js';
import { cost, dateTime, exactTime, plural, whole, words } from '../parts/format.js';
import { InertLine } from '../parts/inert.js';
import { runPath } from '../parts/paths.js';
import { TableHead } from '../parts/table-head.js';
import { refusalText } from '../parts/use-fetched.js';
import { useTitle } from '../parts/use-title.js';

const COLUMNS = ['Runs', 'Stop reason', 'Rule', 'Last error', 'Over time', 'Cost', 'Newest'];
/** The server looks at many runs for each answer. */
const LOOK_MS = 15_000;
const SPARK = { width: 120, height: 24 };

export function FailuresView({ me }: { readonly me: Person }): VNode {
  useTitle('Failures');
  const { value, refusal } = useFailures();
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

function useFailures(): { readonly value?: Failures; readonly refusal?: unknown } {
  const [found, setFound] = useState<{ value?: Failures; refusal?: unknown }>({});
  usePoll(
    async (signal) => {
      try {
        setFound({ value: await get<Failures>('/v1/failures', signal) });
      } catch (refusal) {
        if (isRefusal(refusal)) setFound((before) => ({ ...before, refusal }));
        throw refusal;
      }
    },
    { everyMs: LOOK_MS, name: 'failures' },
  );
  return found;
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
            <Group key={nameOf(group)} group={group} />
          ))}
        </tbody>
      </table>
    </>
  );
}

/** What its runs have in common: the newest of them changes. */
function nameOf({ stopReason, detail, rule, tool, code }: FailureGroup): string {
  return JSON.stringify([stopReason, detail, rule, tool, code]);
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
