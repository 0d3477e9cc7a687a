/** What the status of a run means, as one of few colours. */
import type { VNode } from 'preact';
import { words } from './format.js';

/** Temporal ended it without a result. */
const TONES: { readonly [status: string]: string } = { terminated: 'failed', timed_out: 'failed' };

export function StatusBadge({ status }: { readonly status: string }): VNode {
  const tone = status.startsWith('awaiting') ? 'waiting' : (TONES[status] ?? status);
  return <span class={`badge ${tone}`}>{words(status)}</span>;
}
