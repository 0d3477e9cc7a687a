/** Moving about the inbox by keys: arrows move between rows, `/` goes to the search. */
import type { RefObject } from 'preact';
import { useEffect } from 'preact/hooks';

const STEPS: { readonly [key: string]: number } = { ArrowDown: 1, j: 1, ArrowUp: -1, k: -1 };

/** For keys that are pressed on a row. */
export function moveInList(event: KeyboardEvent & { readonly currentTarget: HTMLElement }): void {
  const step = STEPS[event.key];
  if (step === undefined) return;
  const links = [...event.currentTarget.querySelectorAll('a')];
  const here = links.findIndex((link) => link === document.activeElement);
  event.preventDefault();
  links[Math.min(links.length - 1, Math.max(0, here + step))]?.focus();
}

export interface ListParts {
  readonly rows: RefObject<HTMLElement | null>;
  readonly search: RefObject<HTMLElement | null>;
}

/** For keys that are pressed anywhere. */
export function useListKeys({ rows, search }: ListParts): void {
  useEffect(() => {
    const take = (event: KeyboardEvent): void => {
      if (event.ctrlKey || event.metaKey || event.altKey || isTyping(event)) return;
      if (event.key === '/') {
        event.preventDefault();
        search.current?.focus();
      } else if (event.key === 'ArrowDown' && !rows.current?.contains(document.activeElement)) {
        rows.current?.querySelector('a')?.focus();
      }
    };
    document.addEventListener('keydown', take);
    return () => document.removeEventListener('keydown', take);
  }, []);
}

function isTyping({ target }: KeyboardEvent): boolean {
  return target instanceof Element && target.closest('input, textarea, select') !== null;
}
