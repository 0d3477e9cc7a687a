/** What would not let the action pass if it were approved at this moment: said where people press. */
import type { VNode } from 'preact';
import type { Ask } from '../data/api-types.js';
import { dateTime } from '../parts/format.js';
import { freezeScope } from '../parts/freeze-words.js';
import { InertLine } from '../parts/inert.js';

/** Always there, because screen readers tell only changes of what they know. */
export function Warnings({ ask }: { readonly ask: Ask }): VNode {
  const { frozen, limits, outcome } = ask;
  const isOpen = outcome === 'pending';
  const isOver = isOpen && limits?.exceeded === true;
  return (
    <div class="warnings" role="status">
      {isOpen && frozen !== undefined && (
        <p class="alarm-box">
          <b>Frozen: </b>
          {freezeScope(frozen.scope)} by <InertLine text={frozen.by} max={100} />
          {frozen.until !== undefined && ` until ${dateTime(frozen.until)}`}:{' '}
          <InertLine text={frozen.reason} max={300} />. An approval does not let the call pass while
          this holds.
        </p>
      )}
      {isOver && (
        <p class="alarm-box">
          <b>Beyond a limit of the tool: </b>
          an approval does not let the call pass.
        </p>
      )}
    </div>
  );
}
