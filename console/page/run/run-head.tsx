/** The head of a run: what it is, how it stands, what can be done about it. */
import type { VNode } from 'preact';
import type { Ask, RunDetail, RunResult } from '../data/api-types.js';
import { DetailHead } from '../parts/detail-head.js';
import { Fact } from '../parts/fact.js';
import { dateTime } from '../parts/format.js';
import { InertBlock, InertLine } from '../parts/inert.js';
import { inboxPath, runPath, stepPath } from '../parts/paths.js';
import { RunControls } from './controls.js';
import { ResultNotice } from './result-notice.js';
import { hasEnded } from './run-data.js';

export interface RunHeadProps {
  readonly run: RunDetail;
  readonly changed: () => void;
}

export function RunHead({ run, changed }: RunHeadProps): VNode {
  const { runId, goal, completedAt, startedAt, pending, result } = run;
  return (
    <DetailHead
      id={runId}
      status={run.status}
      list={{ path: '/runs', name: 'Runs' }}
      startedAt={startedAt}
      completedAt={completedAt}
      temporalUrl={run.temporalUrl}
    >
      <details class="goal">
        <summary>
          <InertLine text={goal} max={160} />
        </summary>
        <InertBlock text={goal} />
        <RunFacts run={run} />
      </details>
      <div class="notices">
        {(pending as readonly Ask[])
          .filter(({ kind }) => kind !== 'user_message')
          .map((ask) => (
            <PendingNotice key={ask.askId} ask={ask} />
          ))}
        {run.notStored === true && (
          <p class="notice">The run has ended; its record is not in the store.</p>
        )}
        {result !== undefined && <ResultNotice result={result as RunResult} runId={runId} />}
      </div>
      {!hasEnded(run) && <RunControls runId={runId} changed={changed} />}
    </DetailHead>
  );
}

function RunFacts({ run }: { readonly run: RunDetail }): VNode {
  const { agent, model, caller, taskId, sessionId, startedAt, root, forked, forks } = run;
  return (
    <dl class="facts">
      <Fact name="Agent">
        <InertLine text={agent} />
      </Fact>
      {root !== undefined && (
        <Fact name="Sub-agent of">
          <a href={runPath(root)}>
            <InertLine text={root} />
          </a>
        </Fact>
      )}
      <Fact name="Model">
        <InertLine text={model} />
      </Fact>
      {caller !== undefined && (
        <Fact name="For">
          <InertLine text={caller} />
        </Fact>
      )}
      <Fact name="Task">
        <code>
          <InertLine text={taskId} />
        </code>
      </Fact>
      {sessionId !== undefined && (
        <Fact name="Session">
          <code>
            <InertLine text={sessionId} />
          </code>
        </Fact>
      )}
      <Fact name="Began">{dateTime(startedAt)}</Fact>
      {forked !== undefined && (
        <Fact name="Fork of">
          <a href={stepPath(forked.runId, forked.step)}>
            <InertLine text={forked.runId} max={80} />
          </a>
          {` after step ${forked.step}`}
        </Fact>
      )}
      {forks.map((fork) => (
        <Fact key={fork.runId} name="Forked">
          {`after step ${fork.step}: `}
          <a href={runPath(fork.runId)}>
            <InertLine text={fork.runId} max={80} />
          </a>
        </Fact>
      ))}
    </dl>
  );
}

function PendingNotice({ ask }: { readonly ask: Ask }): VNode {
  const { askId, kind, tool = 'an action' } = ask;
  return (
    <p class="notice waiting">
      {kind === 'approval' ? (
        <>
          The run waits for approval of <InertLine text={tool} max={100} />
        </>
      ) : (
        'The run waits for an answer'
      )}
      {'. '}
      <a href={inboxPath(askId)}>Look at it</a>
    </p>
  );
}
