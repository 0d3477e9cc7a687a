/** Texts of a goal in the store: its definition, its memory. */
import type { RunRef } from '../../core/state/effect.js';
import type { StoreCalls } from '../../store/store.js';

/** What this program wrote under a hash. Errors: `TranscriptMissing` when the store has lost it. */
export async function storedJson<T>(
  store: Pick<StoreCalls, 'getText'>,
  { run }: { readonly run: Pick<RunRef, 'tenant'> },
  hash: string,
): Promise<T> {
  const text = await store.getText(run.tenant, { $blob: hash, bytes: 0, preview: '' });
  return JSON.parse(text) as T;
}
