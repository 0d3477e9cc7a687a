/** How long a question is open, or how it ended. */
import type { VNode } from 'preact';
import type { Ask } from '../data/api-types.js';
import { now } from '../data/connection.js';
import { dateTime, duration, exactTime, relative, words } from '../parts/format.js';
import { useTick } from '../parts/use-tick.js';

const TICK_MS = 1_000;
const SOON_MS = 600_000;

export function Countdown({ ask }: { readonly ask: Ask }): VNode {
  useTick(TICK_MS);
  const { expiresAt, openedAt, resolvedAt, outcome } = ask;
  const left = expiresAt - now();
  const isOpen = outcome === 'pending';
  const share = Math.max(0, Math.min(1, left / Math.max(1, expiresAt - openedAt)));
  return (
    <p class={isOpen && left < SOON_MS ? 'countdown soon' : 'countdown'}>
      <span class="left" title={exactTime(isOpen ? expiresAt : (resolvedAt ?? expiresAt))}>
        {isOpen ? openText(expiresAt, left) : closedText(ask)}
      </span>
      <meter min={0} max={1} value={share} aria-hidden="true" hidden={!isOpen} />
    </p>
  );
}

function openText(expiresAt: number, left: number): string {
  if (left <= 0) return 'The time is up.';
  const rest = duration(Math.ceil(left / 1_000) * 1_000).replace('.0 s', ' s');
  return `Expires in ${rest} (${dateTime(expiresAt)})`;
}

function closedText({ outcome, resolvedAt }: Ask): string {
  const when = resolvedAt === undefined ? '' : `, ${relative(resolvedAt, now())}`;
  return `${words(outcome).replace(/^./, (letter) => letter.toUpperCase())}${when}`;
}
