/** What unfolds: nothing of it is drawn before somebody has opened it. */
import type { ComponentChildren, TargetedEvent, VNode } from 'preact';
import { useState } from 'preact/hooks';
import { InertBlock, InertLine } from './inert.js';

const LINE_CHARS = 160;
const EXACT = { charsMax: 20_000, linesMax: 400 };

interface UnfoldingProps {
  readonly class: string;
  readonly summary: ComponentChildren;
  readonly draw: () => ComponentChildren;
}

export function Unfolding({ summary, draw, ...more }: UnfoldingProps): VNode {
  const [wasOpen, setOpen] = useState(false);
  const toggle = ({ currentTarget }: TargetedEvent<HTMLDetailsElement>): void => {
    if (currentTarget.open) setOpen(true);
  };
  return (
    <details class={more.class} onToggle={toggle}>
      <summary>{summary}</summary>
      {wasOpen && draw()}
    </details>
  );
}

export interface FoldedProps {
  readonly text: string;
  readonly draw: () => ComponentChildren;
}

/** A line that unfolds into the whole. */
export function Folded({ text, draw }: FoldedProps): VNode {
  return (
    <Unfolding class="folded" summary={<InertLine text={text} max={LINE_CHARS} />} draw={draw} />
  );
}

export interface ExactProps {
  readonly title: ComponentChildren;
  readonly value: unknown;
}

/** Exact JSON. */
export function Exact({ title, value }: ExactProps): VNode {
  return <Unfolding class="exact" summary={title} draw={() => <ExactJson value={value} />} />;
}

export function ExactJson({ value }: Pick<ExactProps, 'value'>): VNode {
  return (
    <pre tabIndex={0}>
      <InertBlock text={JSON.stringify(value, null, 2) ?? 'null'} {...EXACT} />
    </pre>
  );
}
