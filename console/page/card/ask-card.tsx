/**
 * What a person sees before they decide. Invariant: the exact arguments are always on it, whatever else is
 * found in them; nothing on it was judged by the model.
 */
import type { ComponentChildren, VNode } from 'preact';
import { useMemo } from 'preact/hooks';
import type { Ask, Grounds, Person } from '../data/api-types.js';
import { now } from '../data/connection.js';
import { Fact } from '../parts/fact.js';
import { Exact } from '../parts/folded.js';
import { dateTime, relative } from '../parts/format.js';
import { InertBlock, InertLine } from '../parts/inert.js';
import { KIND_NAMES } from '../parts/kind-names.js';
import { goalPath, runPath } from '../parts/paths.js';
import { may } from '../parts/rights.js';
import { Arguments } from './arguments.js';
import { Attempts } from './attempts.js';
import { budgetTitle } from '../parts/budget-words.js';
import { LimitsSection, RepeatsSection } from './controls-said.js';
import { Correction } from './correction.js';
import { Countdown } from './countdown.js';
import { agentPathText } from '../../../pure/agent-path.js';
import { goalAskTitle, GoalQuestion } from './goal-question.js';
import { Headline } from './headline.js';
import { People } from './people.js';
import { Sources } from './sources.js';
import { Why } from './why.js';

export interface AskCardProps {
  /** As it was when the card was made: what is asked does not change. */
  readonly first: Ask;
  /** As it is now: how long it is open, and who has decided. */
  readonly ask: Ask;
  readonly me: Person;
  /** Undefined: they are being fetched. */
  readonly grounds: Grounds | undefined;
  /** Address of the question after it. */
  readonly next: string | undefined;
}

export function AskCard({ first, ask, me, grounds, next }: AskCardProps): VNode {
  const above = useMemo(() => <Above ask={first} grounds={grounds} />, [first, grounds]);
  const mayRead = may(me, 'read');
  const below = useMemo(
    () => <Below ask={first} grounds={grounds} mayRead={mayRead} />,
    [first, grounds, mayRead],
  );
  return (
    <article class="card" aria-label="The question">
      <header class="card-head">
        <a class="back" href="/">
          ← Inbox
        </a>
        <div class="card-title">
          <span class={`badge ${first.kind}`}>{KIND_NAMES[first.kind]}</span>
          <h2 tabIndex={-1}>{titleOf(first)}</h2>
        </div>
        <Countdown ask={ask} />
        {agentOf(first) !== undefined && (
          <p class="card-agent">
            Agent <InertLine text={agentOf(first) ?? ''} max={400} />
          </p>
        )}
        {next !== undefined && (
          <a class="next" href={next}>
            Next →
          </a>
        )}
      </header>
      {above}
      <section>
        <h3>Who decides</h3>
        <People ask={ask} me={me} />
      </section>
      {below}
    </article>
  );
}

interface PartProps {
  readonly ask: Ask;
  readonly grounds: Grounds | undefined;
}

function Above({ ask, grounds }: PartProps): VNode {
  const { question, repeats, limits, args } = ask;
  return (
    <>
      {question !== undefined && (
        <div class="question">
          <InertBlock text={question} />
        </div>
      )}
      {ask.goal !== undefined && <GoalQuestion goalId={ask.runId} card={ask.goal} />}
      <Headline ask={ask} grounds={grounds} />
      {grounds !== undefined && <Attempts grounds={grounds} />}
      {grounds !== undefined && <Correction ask={ask} corrections={grounds.corrections} />}
      {repeats !== undefined && <RepeatsSection ask={ask} repeats={repeats} />}
      {limits !== undefined && <LimitsSection ask={ask} outlook={limits} />}
      {args !== undefined && (
        <section>
          <h3>{argumentsTitle(ask)}</h3>
          <Arguments ask={ask} grounds={grounds} />
          <Exact title="As JSON" value={args} />
        </section>
      )}
    </>
  );
}

interface BelowProps extends PartProps {
  /** What a run has read and done is for those who read runs; whoever only answers is told the question. */
  readonly mayRead: boolean;
}

function Below({ ask, grounds, mayRead }: BelowProps): VNode {
  const { runId, root, askId, argsHash, openedAt } = ask;
  const isWithheld = ask.kind === 'input' && !mayRead;
  return (
    <>
      {!isWithheld && (
        <div class="grounds">
          {grounds === undefined ? (
            <p class="help">Fetching the grounds of the proposal …</p>
          ) : (
            <>
              <Why ask={ask} grounds={grounds} />
              {ask.goal === undefined && <Sources grounds={grounds} runId={runId} />}
            </>
          )}
        </div>
      )}
      <dl class="facts card-foot">
        <Fact name={ask.goal === undefined ? 'Run' : 'Goal'}>
          {mayRead ? (
            <a href={ask.goal === undefined ? runPath(runId) : goalPath(runId)}>
              <InertLine text={runId} max={128} />
            </a>
          ) : (
            <InertLine text={runId} max={128} />
          )}
        </Fact>
        {root !== undefined && (
          <Fact name="Root run">
            {mayRead ? (
              <a href={runPath(root)}>
                <InertLine text={root} max={128} />
              </a>
            ) : (
              <InertLine text={root} max={128} />
            )}
          </Fact>
        )}
        <Fact name="Asked">{`${dateTime(openedAt)} (${relative(openedAt, now())})`}</Fact>
        <Fact name="Question">
          <code>
            <InertLine text={askId} max={300} />
          </code>
        </Fact>
        <Fact name="Hash of the action">
          <code>{argsHash}</code>
        </Fact>
      </dl>
    </>
  );
}

/** Of a sub-agent the agents on the way to it. */
function agentOf({ agent, agentPath }: Ask): string | undefined {
  return agentPath === undefined ? agent : agentPathText(agentPath);
}

function argumentsTitle({ kind, goal }: Ask): string {
  if (kind === 'budget') return 'Exact figures';
  return goal === undefined ? 'Exact arguments' : 'Exactly what is asked';
}

function titleOf(ask: Ask): ComponentChildren {
  const { kind, tool = '', toolVersion = '', goal } = ask;
  if (goal !== undefined && kind !== 'budget') return goalAskTitle(goal);
  switch (kind) {
    case 'approval':
    case 'outcome':
      return (
        <>
          {kind === 'outcome' && 'Did it happen? '}
          <InertLine text={tool} max={128} />
          <span class="version">
            <InertLine text={`@${toolVersion}`} max={40} />
          </span>
        </>
      );
    case 'budget':
      return <InertLine text={budgetTitle(ask)} max={80} />;
    default:
      return 'A question to people';
  }
}
