/** Saying something to a goal: a word for its next cycle, pausing and waking it, its budget and pace, its end. */
import type { ComponentChildren, VNode } from 'preact';
import { useRef, useState } from 'preact/hooks';
import { pathOf } from '../data/api.js';
import type { GoalDetail, Person, Told } from '../data/api-types.js';
import { usePosting } from '../data/use-posting.js';
import { Button } from '../parts/button.js';
import { Form, textIn } from '../parts/form.js';
import { cost } from '../parts/format.js';
import { may } from '../parts/rights.js';
import { Outcome, useAct } from '../parts/use-act.js';
import { useFocusOnChange } from '../parts/use-focus.js';
import { readDollars } from './dollars.js';
import { PaceForm } from './pace-form.js';
import { receiptOf } from './receipt.js';
import type { Say } from './say.js';

interface GoalControlsProps {
  readonly me: Person;
  readonly goal: GoalDetail;
  /** What somebody has typed stays, to be copied. */
  readonly isOver: boolean;
  readonly changed: () => void;
}

export function GoalControls({ me, goal, isOver, changed }: GoalControlsProps): VNode {
  const { said, fault, complain, act } = useAct(changed);
  const send = usePosting({ again: true });
  const { goalId, view } = goal;
  const say: Say = (path, body, done) =>
    act(async () => receiptOf(await send<Told>(pathOf('goals', goalId, path), body), done));
  const maySteer = may(me, 'steer');
  const mayEnd = may(me, 'interrupt');
  if (!maySteer && !mayEnd) {
    return <p class="help">Saying something to goals is for other roles than yours.</p>;
  }
  return (
    <details class="controls">
      <summary>Steer it, pause it, or stop it</summary>
      {isOver && (
        <p class="help">
          The goal has ended: nothing that is said to it counts any more. Your words stay here until
          you leave.
        </p>
      )}
      {maySteer && (
        <>
          <SteerForm say={say} />
          {!isOver && <Switches isPaused={view && view.paused !== undefined} say={say} />}
          <BudgetForm goal={goal} say={say} complain={complain} />
          <PaceForm goal={goal} say={say} complain={complain} />
        </>
      )}
      {mayEnd && !isOver && (
        <div class="choices">
          <Confirmed
            label="Stop …"
            confirm="Stop the goal"
            text="The goal ends as interrupted. An open cycle is waited for, unless the cycle itself waits. An ended goal cannot go on; a new one can begin from its checkpoint."
            press={() => say('stop', {}, 'The goal is being stopped.')}
          />
          <Confirmed
            label="Cancel …"
            confirm="Cancel the goal"
            text="The goal ends as aborted, at once. An open cycle is cancelled, and what is under way in it ends in order."
            press={() => say('cancel', {}, 'The goal is being cancelled.')}
          />
        </div>
      )}
      <Outcome said={said} fault={fault} />
    </details>
  );
}

interface SwitchesProps {
  /** Undefined: nobody knows. */
  readonly isPaused: boolean | undefined;
  readonly say: Say;
}

function Switches({ isPaused, say }: SwitchesProps): VNode {
  return (
    <div class="choices">
      {isPaused !== true && (
        <Button
          label="Pause"
          press={() => say('pause', {}, 'The goal pauses when its open cycle has ended.')}
        />
      )}
      {isPaused !== false && (
        <Button label="Resume" press={() => say('resume', {}, 'The goal goes on.')} />
      )}
      <Button
        label="Wake"
        press={() => say('wake', {}, 'The sleep ends, or the next one where none is open.')}
      />
      <Button
        label="Review"
        press={() => say('review', {}, 'A review is made in the next pass.')}
      />
    </div>
  );
}

function SteerForm({ say }: { readonly say: Say }): VNode {
  const [text, setText] = useState('');
  const [wakes, setWakes] = useState(false);
  const submit = async (): Promise<void> => {
    const words = text.trim();
    if (words === '') return;
    const done = 'The word stands in the brief of the next cycle.';
    if (await say('steer', { text: words, ...(wakes && { wake: true }) }, done)) setText('');
  };
  return (
    <Form class="message-form" label="Steer" submit={() => void submit()}>
      <label for="steer">A word to the goal</label>
      <textarea
        id="steer"
        rows={2}
        maxLength={4_000}
        value={text}
        onInput={(event) => setText(textIn(event))}
      />
      <label class="check">
        <input type="checkbox" checked={wakes} onChange={() => setWakes(!wakes)} /> Wake the goal as
        well
      </label>
      <button type="submit" class="button">
        Steer
      </button>
    </Form>
  );
}

interface BudgetFormProps {
  readonly goal: GoalDetail;
  readonly say: Say;
  readonly complain: (text: string) => void;
}

function BudgetForm({
  goal: { view, budgetMicroUsd, goalId },
  say,
  complain,
}: BudgetFormProps): VNode {
  const [dollars, setDollars] = useState('');
  const [lower, setLower] = useState<number>();
  const now = view?.budget?.maxCostMicroUsd ?? budgetMicroUsd;
  const submit = async (): Promise<void> => {
    const read = readDollars(dollars);
    if ('fault' in read) return complain(read.fault);
    const { microUsd } = read;
    // Less than before is rarely meant: it is said once more.
    if (now !== undefined && microUsd < now && lower !== microUsd) {
      setLower(microUsd);
      return complain(
        `${cost(microUsd)} is less than the present ${cost(now)}. Set the budget again to lower it.`,
      );
    }
    setLower(undefined);
    const body = { budget: { maxCostMicroUsd: microUsd } };
    if (await say('budget', body, `The budget is ${cost(microUsd)} in all.`)) setDollars('');
  };
  const id = `budget-${goalId}`;
  return (
    <Form class="inline-form" label="Budget" submit={() => void submit()}>
      <label for={id}>New budget in all, in $</label>
      <input
        id={id}
        class="number"
        type="text"
        inputMode="decimal"
        autocomplete="off"
        value={dollars}
        onInput={(event) => setDollars(textIn(event))}
      />
      {now !== undefined && <span class="help">{`now ${cost(now)}`}</span>}
      <button type="submit" class="button">
        Set the budget
      </button>
    </Form>
  );
}

interface ConfirmedProps {
  readonly label: string;
  readonly confirm: string;
  readonly text: ComponentChildren;
  readonly press: () => Promise<unknown>;
}

/** Says once more what cannot be taken back. */
function Confirmed({ label, confirm, text, press }: ConfirmedProps): VNode {
  const [isAsked, setAsked] = useState(false);
  const place = useRef<HTMLDivElement>(null);
  useFocusOnChange(isAsked, () => place.current?.querySelector('button'));
  const work = async (): Promise<void> => {
    await press();
    setAsked(false);
  };
  return (
    <div class="stop" ref={place}>
      {isAsked ? (
        <>
          <p>{text}</p>
          <div class="choices">
            <Button label={confirm} kind="danger" press={work} />
            <Button label="Back" press={() => setAsked(false)} />
          </div>
        </>
      ) : (
        <Button label={label} kind="danger" press={() => setAsked(true)} />
      )}
    </div>
  );
}
