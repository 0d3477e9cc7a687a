/** Where a value stands word for word. Whose words a task is made of nobody knows here: they may be the customer's. */
import type { VNode } from 'preact';
import { originWords } from '../../../pure/origins.js';
import type { Grounds } from '../data/api-types.js';
import { InertLine } from '../parts/inert.js';

export interface OriginLineProps {
  readonly origin: Grounds['origins'][number];
  /** As the argument has it, and as the card shows it. */
  readonly raw: string;
  readonly shown: string;
}

export function OriginLine({ origin, raw, shown }: OriginLineProps): VNode {
  const { before, tool, after } = originWords(origin);
  return (
    <span class={origin.in === 'task' ? 'origin' : 'origin untrusted'}>
      {/* Another number stands there than the one that is shown. */}
      {origin.as === 'raw' && raw !== shown && (
        <>
          <InertLine text={raw} max={60} />{' '}
        </>
      )}
      {before}
      {tool !== undefined && <InertLine text={tool} max={100} />}
      {after}
    </span>
  );
}
