/**
 * Server-sent events over fetch, because EventSource sends no login.
 * Invariant: a stream that breaks off goes on after the last entry that was handed over, so nothing is missed
 * and nothing comes twice.
 */
import { problemOf, reach } from './api.js';
import { lost } from './connection.js';

const PAUSE_MS = { first: 500, last: 8_000 };
/** The other side says every 15 s that it is there. */
const SILENCE_MS = 40_000;

export interface Entry {
  readonly id?: string;
  readonly event: string;
  readonly data: unknown;
}

interface Reader {
  readonly signal: AbortSignal;
  readonly entry: (entry: Entry) => void;
}

interface Place {
  last: string;
  pause: number;
  isOver: boolean;
}

/** Until `end`, or until nobody wants it any more. */
export async function follow(path: string, reader: Reader): Promise<void> {
  const { signal } = reader;
  const place: Place = { last: '', pause: PAUSE_MS.first, isOver: false };
  while (!signal.aborted && !place.isOver) {
    await readOn(path, reader, place).catch((error: { readonly status?: number }) => {
      const { status = 0 } = error;
      // It is not there, or not for us: asking again changes nothing.
      if (status >= 400 && status < 500 && status !== 429) place.isOver = true;
      else if (!signal.aborted) lost();
    });
    if (!place.isOver) await sleep(place.pause, signal);
    place.pause = Math.min(PAUSE_MS.last, place.pause * 2);
  }
}

async function readOn(path: string, { signal, entry }: Reader, place: Place): Promise<void> {
  for await (const one of entriesOf(path, { last: place.last, signal })) {
    place.pause = PAUSE_MS.first;
    if (one.id !== undefined) place.last = one.id;
    entry(one);
    if (one.event === 'end') place.isOver = true;
  }
}

/** One connection. */
async function* entriesOf(
  path: string,
  { last, signal }: { readonly last: string; readonly signal: AbortSignal },
): AsyncGenerator<Entry, void, undefined> {
  const silence = new AbortController();
  const headers: Record<string, string> = last === '' ? {} : { 'last-event-id': last };
  const either = AbortSignal.any([signal, silence.signal]);
  const response = await reach(path, { headers, signal: either });
  if (!response.ok || response.body === null) throw await problemOf(response);
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = '';
  try {
    for (;;) {
      const timer = setTimeout(() => silence.abort(), SILENCE_MS);
      const { done, value } = await reader.read().finally(() => clearTimeout(timer));
      if (done) return;
      const blocks = (rest + value).split('\n\n');
      rest = blocks.pop() ?? '';
      yield* blocks.map(entryOf).filter((found) => found !== undefined);
    }
  } finally {
    silence.abort();
  }
}

function entryOf(block: string): Entry | undefined {
  const fields: Record<string, string> = {};
  for (const line of block.split('\n')) {
    const colon = line.indexOf(': ');
    if (colon > 0) fields[line.slice(0, colon)] = line.slice(colon + 2);
  }
  const { id, event, data } = fields;
  if (event === undefined || data === undefined) return undefined;
  return { ...(id !== undefined && { id }), event, data: JSON.parse(data) };
}

function sleep(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, ms);
    signal.addEventListener('abort', () => {
      clearTimeout(timer);
      resolve();
    });
  });
}
