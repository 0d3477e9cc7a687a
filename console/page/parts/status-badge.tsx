/** What the status of a run means, as one of few colours. */
import type { VNode } from 'preact';
import { words } from './format.js';

export function StatusBadge({ status }: { readonly status: string }): VNode {
  const tone = status.startsWith('awaiting') ? 'waiting' : status;
  return <span class={`badge ${tone}`}>{words(status)}</span>;
}
