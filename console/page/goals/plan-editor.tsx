/** Changing the plan of a goal: its steps one below the other, sent with the revision that was looked at. */
import type { VNode } from 'preact';
import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import { announce } from '../data/announced.js';
import { ApiProblem, isRefusal, pathOf } from '../data/api.js';
import type { Told } from '../data/api-types.js';
import { usePosting } from '../data/use-posting.js';
import { Button } from '../parts/button.js';
import { Form } from '../parts/form.js';
import { Outcome, useAct } from '../parts/use-act.js';
import {
  added,
  draftOf,
  edited,
  moved,
  planDefect,
  rebased,
  removed,
  sentSteps,
  type Plan,
  type PlanDraft,
} from './plan-draft.js';
import { PlanRow } from './plan-row.js';
import { receiptOf } from './receipt.js';

const STALE =
  'The plan has changed since you looked at it. Your changes are kept, now on the newest plan: look at it again, then set it.';

interface PlanEditorProps {
  readonly goalId: string;
  readonly plan: Plan;
  /** Looks at the goal again. */
  readonly changed: () => void;
}

export function PlanEditor({ goalId, plan, changed }: PlanEditorProps): VNode {
  const [draft, setDraft] = useState<PlanDraft>();
  const [isStale, setStale] = useState(false);
  const { said, fault, complain, act } = useAct(changed);
  const send = usePosting({ again: true });
  const place = useRef<HTMLDivElement>(null);
  const focusOn = useFocusAfter(place);
  if (isStale && draft !== undefined && plan.revision > draft.base.revision) {
    setDraft(rebased(draft, plan));
    setStale(false);
  }
  const close = (): void => {
    setDraft(undefined);
    setStale(false);
    focusOn('.plan-open');
  };
  const submit = async (now: PlanDraft): Promise<void> => {
    const defect = planDefect(now);
    if (defect !== null) {
      if (defect.id !== undefined) focusOn(titleOf(defect.id));
      return complain(defect.fault);
    }
    const body = { steps: sentSteps(now), revision: now.base.revision };
    const isTaken = await act(async () => {
      const told = await send<Told>(pathOf('goals', goalId, 'plan'), body).catch((error) => {
        if (!isRefusal(error) || error.code !== 'stale_plan') throw error;
        setStale(true);
        throw new ApiProblem({ status: error.status, code: error.code, detail: STALE });
      });
      return receiptOf(told, 'The plan is set.');
    });
    if (isTaken) close();
  };
  return (
    <div class="plan-editor" ref={place}>
      {draft === undefined ? (
        <div class="choices plan-open">
          <Button
            label="Change the plan …"
            press={() => {
              complain('');
              setDraft(draftOf(plan));
              focusOn(plan.steps[0] === undefined ? '.plan-add' : titleOf(plan.steps[0].id));
            }}
          />
        </div>
      ) : (
        <PlanForm
          draft={draft}
          change={setDraft}
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
  readonly change: (draft: PlanDraft) => void;
  /** What has the focus when it is drawn, as a selector. */
  readonly focusOn: (selector: string) => void;
  readonly submit: () => void;
  readonly close: () => void;
}

function PlanForm({ draft, change, focusOn, submit, close }: PlanFormProps): VNode {
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
      <div class="choices">
        <button type="submit" class="button primary">
          Set the plan
        </button>
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
