/** Deciding on a question: the buttons of its kind, or why this person gets none. */
import type { RefObject, VNode } from 'preact';
import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import type { Ask, Grounds, Person } from '../data/api-types.js';
import { KeptFocus } from '../parts/kept-focus.js';
import { Choices } from './choices.js';
import { FormOf } from './forms.js';
import { objectionTo } from './objection.js';
import { useDecision } from './use-decision.js';

export interface DecisionPanelProps {
  readonly ask: Ask;
  readonly me: Person;
  /** Undefined: they are being fetched. */
  readonly grounds: Grounds | undefined;
  readonly changed: () => void;
  /** Whether somebody has begun to say something. */
  readonly told: (isBegun: boolean) => void;
}

export function DecisionPanel({ ask, me, grounds, changed, told }: DecisionPanelProps): VNode {
  // A panel is for one action; of what comes later only who may decide, and whether anybody still may, counts.
  const [first] = useState(ask);
  const { desk, opened, fault, said } = useDecision(first, changed);
  const [isAnswering, setAnswering] = useState(false);
  const takesGrant = useOnceTrue(ask.takesGrant === true);
  const isOpen = ask.outcome === 'pending';
  const form = isOpen ? opened : undefined;
  const why = objectionTo(ask, me);
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
        {said.text}
      </p>
      {/* What is complained about is being mended. */}
      <div class="decide-form" onInput={() => desk.complain('')}>
        {form !== undefined && <FormOf form={form} ask={first} desk={desk} grounds={grounds} />}
      </div>
      <div class="choices" hidden={form !== undefined}>
        {why === undefined ? (
          <Choices
            ask={first}
            desk={desk}
            takesGrant={takesGrant}
            isReady={grounds !== undefined}
            begun={setAnswering}
          />
        ) : (
          <p class="why-not" tabIndex={-1}>
            {why}
          </p>
        )}
      </div>
    </KeptFocus>
  );
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
