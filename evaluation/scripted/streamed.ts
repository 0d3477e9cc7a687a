/**
 * What was streamed of a run, against its messages (S155): nothing unless it was wanted, else in pieces what each
 * reply says.
 */
import type { RunEvent } from '../../core/state/event.js';
import { STREAM_START, type StreamPlace } from '../../pure/stream.js';
import type { Store } from '../../store/store.js';
import type { StreamBatch } from '../../store/changes.js';
import type { RunPlace } from './observe.js';

export interface Streamed {
  readonly isWanted: boolean;
  /** With their texts. */
  readonly events: readonly RunEvent[];
}

const PAGES_MAX = 1_000;

export async function streamViolations(
  store: Pick<Store, 'readStream'>,
  run: RunPlace,
  { isWanted, events }: Streamed,
): Promise<readonly string[]> {
  const batches = await batchesOf(store, run);
  if (!isWanted) return batches.length === 0 ? [] : ['a run streams that nobody wanted to'];
  const said = wordsByMessage(batches);
  return events.flatMap((event) => {
    if (event.type !== 'model_response' || event.text === undefined) return [];
    const text = 'text' in event.text ? event.text.text : '';
    const streamed = said.get(event.messageId);
    if (streamed === text) return [];
    return [
      `${event.messageId} says ${JSON.stringify(text)}, its stream ${JSON.stringify(streamed)}`,
    ];
  });
}

async function batchesOf(
  store: Pick<Store, 'readStream'>,
  { tenant, runId }: RunPlace,
): Promise<readonly StreamBatch[]> {
  const batches: StreamBatch[] = [];
  let from: StreamPlace = STREAM_START;
  for (let page = 0; page < PAGES_MAX; page += 1) {
    const read = await store.readStream({ tenant, runId }, from);
    const last = read.batches.at(-1);
    if (last === undefined) break;
    batches.push(...read.batches);
    from = { fence: last.fence, index: last.first + last.entries.length };
  }
  return batches;
}

/** Of attempts that ended: what others said does not count. */
function wordsByMessage(batches: readonly StreamBatch[]): ReadonlyMap<string, string> {
  const said = new Map<string, string>();
  let words = '';
  for (const { messageId, entries } of batches) {
    for (const entry of entries) {
      if (entry.kind === 'attempt_started') words = '';
      else if (entry.kind === 'attempt_ended') said.set(messageId, words);
      else if (entry.kind === 'delta' && entry.delta.type === 'text') words += entry.delta.text;
    }
  }
  return said;
}
