/** What somebody says in place of pressing a button, by what they have opened. */
import type { ComponentChildren, VNode } from 'preact';
import { useLayoutEffect, useRef } from 'preact/hooks';
import type { Ask, Grounds } from '../data/api-types.js';
import { Button } from '../parts/button.js';
import { ConfirmForm } from './confirm-form.js';
import { CorrectionForm } from './correction-form.js';
import type { Desk, Form } from './desk.js';
import { GrantForm } from './grant-form.js';
import { HappenedForm } from './happened-form.js';
import { RejectForm } from './reject-form.js';

export interface FormOfProps {
  readonly form: Form;
  readonly ask: Ask;
  readonly desk: Desk;
  readonly grounds: Grounds | undefined;
}

export function FormOf(props: FormOfProps): VNode {
  // What a question rests on carries the schemas that forms are made from: a form that has them is another one.
  const { form, grounds } = props;
  const waits = (form === 'correct' || form === 'grant') && grounds === undefined;
  return <Opened key={`${form} ${waits}`}>{formOf(props)}</Opened>;
}

function Fetching({ desk }: Pick<FormOfProps, 'desk'>): VNode {
  return (
    <>
      <p class="help" tabIndex={-1}>
        Fetching the grounds of the proposal …
      </p>
      <Button label="Back" press={() => desk.open(undefined)} />
    </>
  );
}

function formOf({ form, ask, desk, grounds }: FormOfProps): ComponentChildren {
  switch (form) {
    case 'correct':
      if (grounds === undefined) return <Fetching desk={desk} />;
      return <CorrectionForm ask={ask} desk={desk} grounds={grounds} />;
    case 'grant':
      if (grounds === undefined) return <Fetching desk={desk} />;
      return <GrantForm ask={ask} desk={desk} grounds={grounds} />;
    case 'reject':
      return <RejectForm desk={desk} />;
    case 'happened':
      return <HappenedForm desk={desk} />;
    case 'not happened':
    case 'stop':
      return <ConfirmForm desk={desk} choice={form} />;
  }
}

/** Who opens a form is in its first field, or at what it says. */
function Opened({ children }: { readonly children: ComponentChildren }): VNode {
  const place = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => {
    place.current?.querySelector<HTMLElement>('input, textarea, select, [tabindex]')?.focus();
  }, []);
  return <div ref={place}>{children}</div>;
}
