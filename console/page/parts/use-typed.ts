/** What somebody types, told when they pause. */
import { useEffect, useRef, useState } from 'preact/hooks';

export interface Typed {
  readonly text: string;
  readonly type: (text: string) => void;
}

/** `first` stands there already. */
export function useTyped(pauseMs: number, first: string, tell: (text: string) => void): Typed {
  const [text, setText] = useState(first);
  const timer = useRef<ReturnType<typeof setTimeout> | undefined>(undefined);
  const newest = useRef(tell);
  newest.current = tell;
  useEffect(() => () => clearTimeout(timer.current), []);
  return {
    text,
    type(typed) {
      setText(typed);
      clearTimeout(timer.current);
      timer.current = setTimeout(() => newest.current(typed), pauseMs);
    },
  };
}
