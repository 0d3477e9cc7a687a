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
