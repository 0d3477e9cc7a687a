/** What somebody says in place of pressing a button, by what they have opened. */
import type { ComponentChildren, VNode } from 'preact';
import { useLayoutEffect, useRef } from 'preact/hooks';
import type { Ask, Grounds } from '../data/api-types.js';
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
  return <Opened key={props.form}>{formOf(props)}</Opened>;
}

function formOf({ form, ask, desk, grounds }: FormOfProps): ComponentChildren {
  switch (form) {
    case 'correct':
      return grounds && <CorrectionForm ask={ask} desk={desk} grounds={grounds} />;
    case 'grant':
      return grounds && <GrantForm ask={ask} desk={desk} grounds={grounds} />;
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
