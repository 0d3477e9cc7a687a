/** Where the focus goes when what is shown changes: into what somebody has opened, or to where the answer is. */
import { useLayoutEffect, useRef } from 'preact/hooks';

type Found = HTMLElement | null | undefined;

/** Moves the focus each time the value changes; not when it is drawn first. */
export function useFocusOnChange(value: unknown, place: () => Found): void {
  const before = useRef(value);
  useLayoutEffect(() => {
    if (Object.is(before.current, value)) return;
    before.current = value;
    place()?.focus();
  }, [value]);
}

/** The same for whoever was on something that went away with the change; nobody is taken from where they are. */
export function useFocusWhenLost(value: unknown, place: () => Found): void {
  useFocusOnChange(value, () => (document.activeElement === document.body ? place() : undefined));
}
