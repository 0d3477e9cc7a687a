/** The head of a goal: what is wanted within what, how it stands, how it ended. */
import type { VNode } from 'preact';
import type { GoalDetail, RunResult } from '../data/api-types.js';
import { now } from '../data/connection.js';
import { DetailHead } from '../parts/detail-head.js';
import { Fact } from '../parts/fact.js';
import { Exact } from '../parts/folded.js';
import { dateTime, relative } from '../parts/format.js';
import { InertBlock, InertLine } from '../parts/inert.js';
import { runPath } from '../parts/paths.js';
import { ResultNotice } from '../run/result-notice.js';
import { paceText } from './pace-words.js';
import { paceOf, statusOf } from './use-goal.js';

export function GoalHead({ goal }: { readonly goal: GoalDetail }): VNode {
  const { goalId, startedAt, completedAt, result, definition } = goal;
  return (
    <DetailHead
      id={goalId}
      status={statusOf(goal)}
      list={{ path: '/goals', name: 'Goals' }}
      startedAt={startedAt}
      completedAt={completedAt}
      temporalUrl={goal.temporalUrl}
    >
      <div class="goal-objective">
        <InertBlock text={definition?.objective ?? goal.objective} />
      </div>
      <GoalFacts goal={goal} />
      {definition !== undefined && <Exact title="The definition" value={definition} />}
      {result !== undefined && (
        <div class="notices">
          <ResultNotice result={result as RunResult} runId={goalId} />
        </div>
      )}
    </DetailHead>
  );
}

function GoalFacts({ goal }: { readonly goal: GoalDetail }): VNode {
  const { agent, caller, definition, view, nextWake } = goal;
  const constraints = definition?.constraints ?? [];
  const wakes = view === undefined ? nextWake : view.sleep?.until;
  const pace = paceOf(goal);
  return (
    <dl class="facts">
      {constraints.length > 0 && (
        <Fact name="Constraints">
          <ul class="goal-constraints">
            {constraints.map((text) => (
              <li key={text}>
                <InertLine text={text} max={500} />
              </li>
            ))}
          </ul>
        </Fact>
      )}
      <Fact name="Agent">
        <InertLine text={agent} />
      </Fact>
      {caller !== undefined && (
        <Fact name="Started by">
          <InertLine text={caller} />
        </Fact>
      )}
      {view?.cycle !== undefined && (
        <Fact name="Open cycle">
          <a href={runPath(view.cycle.runId)}>
            <InertLine text={view.cycle.runId} max={128} />
          </a>
        </Fact>
      )}
      {pace !== undefined && (
        <Fact name="Pace">
          <InertLine text={paceText(pace)} max={120} />
        </Fact>
      )}
      {wakes !== undefined && (
        <Fact name="Wakes">{`${relative(wakes, now())} (${dateTime(wakes)})`}</Fact>
      )}
      {view?.sleep !== undefined && wakes === undefined && (
        <Fact name="Sleeps">
          until somebody wakes it: <InertLine text={view.sleep.because} max={200} />
        </Fact>
      )}
      {view?.paused !== undefined && (
        <Fact name="Paused by">
          <InertLine text={view.paused.by} max={100} />
        </Fact>
      )}
    </dl>
  );
}
