/** A form that the page itself takes: nothing is ever sent by the browser. */
import type { ComponentChildren, TargetedKeyboardEvent, VNode } from 'preact';

export interface FormProps {
  readonly label?: string;
  readonly class?: string;
  readonly submit: () => void;
  readonly children: ComponentChildren;
}

export function Form({ label, submit, children, ...more }: FormProps): VNode {
  const take = (event: Event): void => {
    event.preventDefault();
    submit();
  };
  return (
    <form class={more.class} aria-label={label} onSubmit={take} onKeyDown={sendByKey}>
      {children}
    </form>
  );
}

/** Ctrl+Enter sends what is written, also from a field of several lines. */
function sendByKey(event: TargetedKeyboardEvent<HTMLFormElement>): void {
  if (event.defaultPrevented || event.isComposing || event.key !== 'Enter') return;
  if (!event.ctrlKey && !event.metaKey) return;
  event.preventDefault();
  event.currentTarget.requestSubmit();
}

/** What somebody has written into a field of a form. */
export function textIn(event: Event): string {
  const { target } = event;
  const isField =
    target instanceof HTMLInputElement ||
    target instanceof HTMLTextAreaElement ||
    target instanceof HTMLSelectElement;
  return isField ? target.value : '';
}
