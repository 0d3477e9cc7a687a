/** Changing the plan of a goal: its steps one below the other, sent with the revision that was looked at. */
import type { VNode } from 'preact';
import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import { announce } from '../data/announced.js';
import { Button } from '../parts/button.js';
import { Form } from '../parts/form.js';
import { Outcome } from '../parts/use-act.js';
import { added, edited, moved, removed, type Plan, type PlanDraft } from './plan-draft.js';
import { PlanRow } from './plan-row.js';
import { usePlanEditing } from './use-plan-editing.js';

const OVER =
  'The goal has ended: its plan does not change any more. Your changes stay here until you leave.';

interface PlanEditorProps {
  readonly goalId: string;
  readonly plan: Plan;
  /** A draft that somebody has begun stays; none is begun any more. */
  readonly isOver: boolean;
  /** Looks at the goal again. */
  readonly changed: () => void;
}

export function PlanEditor({ goalId, plan, isOver, changed }: PlanEditorProps): VNode {
  const place = useRef<HTMLDivElement>(null);
  const focusOn = useFocusAfter(place);
  const { draft, write, open, close, submit, said, fault } = usePlanEditing({
    goalId,
    plan,
    changed,
    closed: () => focusOn('.plan-open'),
    faulty: (id) => focusOn(titleOf(id)),
  });
  const [first] = plan.steps;
  return (
    <div class="plan-editor" ref={place}>
      {draft === undefined && !isOver && (
        <div class="choices plan-open">
          <Button
            label="Change the plan …"
            press={() => {
              open();
              focusOn(first === undefined ? '.plan-add' : titleOf(first.id));
            }}
          />
        </div>
      )}
      {draft !== undefined && (
        <PlanForm
          draft={draft}
          isOver={isOver}
          change={write}
          focusOn={focusOn}
          submit={() => void submit(draft)}
          close={close}
        />
      )}
      <Outcome said={said} fault={fault} />
    </div>
  );
}

interface PlanFormProps {
  readonly draft: PlanDraft;
  readonly isOver: boolean;
  readonly change: (draft: PlanDraft) => void;
  /** What has the focus when it is drawn, as a selector. */
  readonly focusOn: (selector: string) => void;
  readonly submit: () => void;
  readonly close: () => void;
}

function PlanForm({ draft, isOver, change, focusOn, submit, close }: PlanFormProps): VNode {
  const { base, steps } = draft;
  const add = (): void => {
    const next = added(draft);
    change(next);
    focusOn(titleOf(next.steps.at(-1)!.id));
  };
  const remove = (id: string): void => {
    const at = steps.findIndex((step) => step.id === id);
    const near = steps[at + 1] ?? steps[at - 1];
    change(removed(draft, id));
    focusOn(near === undefined ? '.plan-add' : titleOf(near.id));
    announce(`Step ${at + 1} is removed.`);
  };
  const move = (id: string, by: -1 | 1): void => {
    const next = moved(draft, id, by);
    const at = next.steps.findIndex((step) => step.id === id);
    change(next);
    focusOn(`${rowOf(id)} .${by < 0 ? 'up' : 'down'}`);
    announce(`Now step ${at + 1} of ${steps.length}.`);
  };
  return (
    <Form class="plan-form panel" label="The plan" submit={submit}>
      <p class="help">{`On revision ${base.revision} of the plan. A step that is done has evidence: nobody marks one done by hand.`}</p>
      <ol class="plan-rows">
        {steps.map((step, at) => (
          <PlanRow
            key={step.id}
            draft={draft}
            at={at}
            edit={(part) => change(edited(draft, step.id, part))}
            move={(by) => move(step.id, by)}
            remove={() => remove(step.id)}
          />
        ))}
      </ol>
      <div class="choices plan-add">
        <Button label="Add a step" press={add} />
      </div>
      {isOver && <p class="help">{OVER}</p>}
      <div class="choices">
        {!isOver && (
          <button type="submit" class="button primary">
            Set the plan
          </button>
        )}
        <Button label="Leave it as it was" press={close} />
      </div>
    </Form>
  );
}

function rowOf(id: string): string {
  return `[data-step="${CSS.escape(id)}"]`;
}

function titleOf(id: string): string {
  return `${rowOf(id)} input`;
}

/** Moves the focus when what it goes to is drawn; into it where it takes none itself. */
function useFocusAfter(place: {
  readonly current: HTMLElement | null;
}): (selector: string) => void {
  const wanted = useRef<string | undefined>(undefined);
  const [, redraw] = useState(0);
  useLayoutEffect(() => {
    const selector = wanted.current;
    if (selector === undefined) return;
    wanted.current = undefined;
    const found = place.current?.querySelector<HTMLElement>(selector);
    (found?.matches('button, input') === true ? found : found?.querySelector('button'))?.focus();
  });
  return (selector) => {
    wanted.current = selector;
    redraw((count) => count + 1);
  };
}
