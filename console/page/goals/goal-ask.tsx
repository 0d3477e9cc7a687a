/** A question of a goal, decided on where it is read. */
import type { VNode } from 'preact';
import { useRef, useState } from 'preact/hooks';
import { Countdown } from '../card/countdown.js';
import { goalAskTitle, GoalQuestion } from '../card/goal-question.js';
import { useAsk, type Version } from '../card/use-ask.js';
import type { Person } from '../data/api-types.js';
import { DecisionPanel } from '../decide/decision-panel.js';
import { Exact } from '../parts/folded.js';
import { InertBlock, InertLine } from '../parts/inert.js';
import { Names } from '../parts/names.js';
import { inboxPath } from '../parts/paths.js';

interface GoalAskProps {
  readonly askId: string;
  readonly me: Person;
  readonly changed: () => void;
  /** Of the open cycle: its action is for the whole card. */
  readonly isOfCycle?: true;
}

export function GoalAsk({ askId, me, changed, isOfCycle }: GoalAskProps): VNode | null {
  const begun = useRef(false);
  const { version, soon } = useAsk(askId, () => begun.current);
  if (isOfCycle === true || version?.ask.goal === undefined) {
    return (
      <p class="notice waiting">
        {isOfCycle === true
          ? 'The open cycle waits for a person: '
          : 'The goal waits for a person: '}
        <InertLine text={version?.ask.question ?? version?.ask.tool ?? 'a question'} max={200} />
        {'. '}
        <a href={inboxPath(askId)}>Look at it</a>
      </p>
    );
  }
  const decided = (): void => {
    soon();
    changed();
  };
  return (
    <Asked
      key={version.number}
      version={version}
      me={me}
      changed={decided}
      told={(isBegun) => (begun.current = isBegun)}
    />
  );
}

interface AskedProps {
  readonly version: Version;
  readonly me: Person;
  readonly changed: () => void;
  readonly told: (isBegun: boolean) => void;
}

function Asked({ version: { ask, number }, me, changed, told }: AskedProps): VNode {
  // As it was when it was shown first: a decision is about nothing else.
  const [first] = useState(ask);
  const { goal, question, args, askId, runId } = first;
  return (
    <section class="goal-ask panel" aria-label="The goal asks">
      {number > 0 && <p class="alarm-box">This question has changed. Look at it anew.</p>}
      <h2>{goal === undefined ? 'A question' : goalAskTitle(goal)}</h2>
      <Countdown ask={ask} />
      {question !== undefined && (
        <div class="question">
          <InertBlock text={question} />
        </div>
      )}
      {goal !== undefined && <GoalQuestion goalId={runId} card={goal} />}
      {args !== undefined && <Exact title="Exactly what is asked, as JSON" value={args} />}
      <NotBy ask={ask} />
      <p class="help">
        <a href={inboxPath(askId)}>The whole card</a>
      </p>
      <DecisionPanel ask={ask} me={me} grounds={undefined} changed={changed} told={told} />
    </section>
  );
}

/** Said with the question, not only to those who try. */
function NotBy({ ask: { requestedBy, steeredBy = [] } }: Pick<Version, 'ask'>): VNode | null {
  if (requestedBy === undefined && steeredBy.length === 0) return null;
  return (
    <p class="help">
      Not by{' '}
      {requestedBy !== undefined && (
        <>
          <InertLine text={requestedBy} />, who started the goal
        </>
      )}
      {requestedBy !== undefined && steeredBy.length > 0 && ', nor by '}
      {steeredBy.length > 0 && (
        <>
          <Names names={steeredBy} />, who said something to it since its last cycle
        </>
      )}
      .
    </p>
  );
}
