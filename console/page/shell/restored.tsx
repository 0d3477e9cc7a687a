/** What the store lacks since an older copy took its place, in a line below the head of every view. */
import type { VNode } from 'preact';
import { useState } from 'preact/hooks';
import { get } from '../data/api.js';
import { usePoll } from '../data/use-poll.js';
import { dateTime } from '../parts/format.js';

const LOOK_MS = 20_000;

export function Restored(): VNode | null {
  const [at, setAt] = useState<number>();
  usePoll(
    async (signal) => {
      setAt((await get<{ readonly restoredAt?: number }>('/v1/store', signal)).restoredAt);
    },
    { everyMs: LOOK_MS, name: 'store' },
  );
  if (at === undefined) return null;
  return (
    <p class="freezes" role="note">
      <b>Restored store: </b>
      an older copy of the store took its place (noticed {dateTime(at)}), and what was stored
      between is not in it. <code>holdfast approvals</code> without a desk asks the runs themselves
      for questions that are missing here.
    </p>
  );
}
