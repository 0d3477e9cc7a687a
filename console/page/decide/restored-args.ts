/** The arguments with their long texts put back in: a reference is no argument. */
import { useEffect, useState } from 'preact/hooks';
import type { Ask, Json } from '../data/api-types.js';
import { readPiece } from '../data/texts.js';
import { isBlob } from '../parts/json-value.js';

/** With longer texts the request would be larger than the desk takes. */
const TEXT_CHARS_MAX = 40_000;

export type RestoredArgs =
  | { readonly state: 'fetching' }
  | { readonly state: 'there'; readonly args: Json }
  | { readonly state: 'too long' }
  /** The desk did not give a text. */
  | { readonly state: 'not fetched' };

class TooLong extends Error {}

export function useRestoredArgs({ args, runId }: Ask): RestoredArgs {
  const [found, setFound] = useState<RestoredArgs>({ state: 'fetching' });
  useEffect(() => {
    const leaving = new AbortController();
    const { signal } = leaving;
    restored((args ?? {}) as Json, { runId, signal }).then(
      (whole) => signal.aborted || setFound({ state: 'there', args: whole }),
      (error: unknown) =>
        signal.aborted ||
        setFound({ state: error instanceof TooLong ? 'too long' : 'not fetched' }),
    );
    return () => leaving.abort();
  }, []);
  return found;
}

interface Source {
  readonly runId: string;
  readonly signal: AbortSignal;
}

async function restored(value: Json, source: Source): Promise<Json> {
  if (isBlob(value)) {
    const wanted = { runId: source.runId, hash: value.$blob, chars: TEXT_CHARS_MAX };
    const { text, chars } = await readPiece(wanted, source.signal);
    if (chars > text.length) throw new TooLong();
    return text;
  }
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return Promise.all(value.map((part) => restored(part, source)));
  const entries = Object.entries(value).map(async ([name, part]): Promise<[string, Json]> => [
    name,
    await restored(part, source),
  ]);
  return Object.fromEntries(await Promise.all(entries));
}
