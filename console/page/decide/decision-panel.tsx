/** Deciding on a question: the buttons of its kind, or why this person gets none. */
import type { ComponentChildren, RefObject, VNode } from 'preact';
import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import type { Ask, Grounds, Person } from '../data/api-types.js';
import { KeptFocus } from '../parts/kept-focus.js';
import { Choices } from './choices.js';
import type { Desk } from './desk.js';
import { FormOf } from './forms.js';
import { objectionTo } from './objection.js';
import { useDecision } from './use-decision.js';
import { Warnings } from './warnings.js';

export interface DecisionPanelProps {
  readonly ask: Ask;
  readonly me: Person;
  /** Undefined: they are being fetched. */
  readonly grounds: Grounds | undefined;
  readonly changed: () => void;
  /** Whether somebody has begun to say something. */
  readonly told: (isBegun: boolean) => void;
  /** What became of the action, as far as it is known. */
  readonly receipt?: ComponentChildren;
}

export function DecisionPanel(props: DecisionPanelProps): VNode {
  const { ask, me, grounds, changed, told, receipt } = props;
  // A panel is for one action; of what comes later only who may decide, and whether anybody still may, counts.
  const [first] = useState(ask);
  const { desk, opened, fault, said, outcome } = useDecision(first, changed);
  const [isAnswering, setAnswering] = useState(false);
  const takesGrant = useOnceTrue(ask.takesGrant === true);
  // What was decided here counts before the store has it: nobody is offered the buttons again.
  const now = ask.outcome === 'pending' && outcome !== undefined ? { ...ask, outcome } : ask;
  const form = now.outcome === 'pending' ? opened : undefined;
  const why = objectionTo(now, me);
  const saidPlace = useRef<HTMLParagraphElement>(null);
  useFocusOnSaid(saidPlace, said);
  useLayoutEffect(() => {
    told(form !== undefined || isAnswering);
  });
  return (
    <KeptFocus class="decide" label="Decide" fallback=".choices:not([hidden]) button, .why-not">
      <p class="fault" role="alert">
        {fault}
      </p>
      <p class="said" role="status" tabIndex={-1} ref={saidPlace}>
        {said.isFinal || ask.outcome === 'pending' ? said.text : ''}
      </p>
      {receipt}
      <Warnings ask={ask} />
      {/* What is complained about is being mended. */}
      <div
        class="decide-form"
        onInput={() => desk.complain('')}
        onKeyDown={(event) => takeKey(event, desk)}
      >
        {form !== undefined && <FormOf form={form} ask={first} desk={desk} grounds={grounds} />}
      </div>
      <div class="choices" hidden={form !== undefined} onKeyDown={(event) => takeKey(event, desk)}>
        {why === undefined ? (
          <Choices ask={first} desk={desk} takesGrant={takesGrant} begun={setAnswering} />
        ) : (
          <p class="why-not" tabIndex={-1}>
            {why}
          </p>
        )}
      </div>
    </KeptFocus>
  );
}

/** Escape goes back to the buttons. */
function takeKey(event: KeyboardEvent, desk: Desk): void {
  if (event.defaultPrevented || event.isComposing) return;
  if (event.key === 'Escape') {
    event.preventDefault();
    desk.open(undefined);
  }
}

/** While no worker answers nobody knows; what was offered once stays, and the run has the last word. */
function useOnceTrue(value: boolean): boolean {
  const was = useRef(false);
  was.current ||= value;
  return was.current;
}

/** Whoever has decided here is where the answer is. */
function useFocusOnSaid(
  place: RefObject<HTMLElement | null>,
  said: { readonly text: string },
): void {
  useLayoutEffect(() => {
    const at = document.activeElement;
    const isHere = at === document.body || place.current?.parentElement?.contains(at) === true;
    if (said.text !== '' && isHere) place.current?.focus();
  }, [said]);
}
