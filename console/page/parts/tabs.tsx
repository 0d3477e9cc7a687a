/** Tabs as screen readers and keyboards know them. */
import type { ComponentChildren, VNode } from 'preact';
import { useId, useRef, useState } from 'preact/hooks';
import { useKept } from './use-kept.js';

export interface Tab {
  readonly name: string;
  /** Drawn when somebody has opened it, and from then on. */
  readonly draw: (isOpen: boolean) => ComponentChildren;
}

export interface TabsProps {
  readonly label: string;
  readonly tabs: readonly Tab[];
  /** The one that is open at first; default: the first. */
  readonly first?: number;
}

export function Tabs({ label, tabs, first = 0 }: TabsProps): VNode {
  const group = useId();
  const list = useRef<HTMLDivElement>(null);
  const [kept, setChosen] = useKept(label, first);
  // A tab of another time may be there no more.
  const chosen = tabs[kept] === undefined ? first : kept;
  const [opened, setOpened] = useState<ReadonlySet<number>>(new Set([chosen]));
  const open = (place: number): void => {
    setChosen(place);
    setOpened((before) => new Set(before).add(place));
  };
  const move = (event: KeyboardEvent): void => {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (step === undefined) return;
    const next = (chosen + step + tabs.length) % tabs.length;
    list.current?.querySelectorAll('button')[next]?.focus();
    open(next);
  };
  return (
    <div class="tabs">
      <div role="tablist" aria-label={label} ref={list} onKeyDown={move}>
        {tabs.map(({ name }, place) => (
          <button
            key={name}
            type="button"
            role="tab"
            id={`${group}-tab-${place}`}
            aria-controls={`${group}-panel-${place}`}
            aria-selected={place === chosen ? 'true' : 'false'}
            tabIndex={place === chosen ? 0 : -1}
            onClick={() => open(place)}
          >
            {name}
          </button>
        ))}
      </div>
      {tabs.map(({ name, draw }, place) => (
        <div
          key={name}
          role="tabpanel"
          id={`${group}-panel-${place}`}
          aria-labelledby={`${group}-tab-${place}`}
          hidden={place !== chosen}
        >
          {opened.has(place) && draw(place === chosen)}
        </div>
      ))}
    </div>
  );
}
