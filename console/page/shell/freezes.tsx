/** What is frozen now, in a line below the head of every view: people must not wonder why nothing happens. */
import type { VNode } from 'preact';
import { useState } from 'preact/hooks';
import { get } from '../data/api.js';
import type { Freeze } from '../data/api-types.js';
import { usePoll } from '../data/use-poll.js';
import { dateTime } from '../parts/format.js';
import { freezeScope } from '../parts/freeze-words.js';
import { InertLine } from '../parts/inert.js';

const LOOK_MS = 4_000;
const SHOWN_MAX = 5;

export function Freezes(): VNode | null {
  const [freezes, setFreezes] = useState<readonly Freeze[]>([]);
  usePoll(
    async (signal) => {
      const { items } = await get<{ readonly items: readonly Freeze[] }>('/v1/freezes', signal);
      setFreezes(items);
    },
    { everyMs: LOOK_MS, name: 'freezes' },
  );
  const hidden = freezes.length - SHOWN_MAX;
  if (freezes.length === 0) return null;
  return (
    <ul class="freezes" aria-label="Frozen">
      {freezes.slice(0, SHOWN_MAX).map((freeze) => (
        <FreezeLine key={freeze.id} freeze={freeze} />
      ))}
      {hidden > 0 && <li>{`and ${hidden} more`}</li>}
    </ul>
  );
}

function FreezeLine({ freeze }: { readonly freeze: Freeze }): VNode {
  const { scope, by, reason, until } = freeze;
  return (
    <li>
      <b>Frozen: </b>
      {freezeScope(scope)} by <InertLine text={by} max={100} />
      {until !== undefined && ` until ${dateTime(until)}`}: <InertLine text={reason} max={300} />
    </li>
  );
}
