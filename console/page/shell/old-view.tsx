/** A view that builds its elements itself, until it is made of components. */
import type { VNode } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import type { Person } from '../data/api-types.js';
import type { Place } from './route.js';

interface Made {
  readonly element: HTMLElement;
  show(place: { readonly id?: string }): void;
}

export interface OldPage {
  readonly me: Person;
  readonly signal: AbortSignal;
}

interface OldViewProps {
  readonly me: Person;
  readonly place: Place;
  readonly make: (page: OldPage) => Made;
}

export function OldView({ me, place, make }: OldViewProps): VNode {
  const root = useRef<HTMLDivElement>(null);
  const made = useRef<Made | undefined>(undefined);
  useEffect(() => {
    const leaving = new AbortController();
    made.current = make({ me, signal: leaving.signal });
    root.current?.append(made.current.element);
    return () => leaving.abort();
  }, []);
  useEffect(() => made.current?.show(place.id === undefined ? {} : { id: place.id }), [place.id]);
  return <div class="old" ref={root} />;
}
