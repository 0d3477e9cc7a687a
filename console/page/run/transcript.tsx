/** The conversation: as it is stored when the run has ended, and until then as its events tell it. */
import type { VNode } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import type { TranscriptMessage } from '../../../client/read/transcript.js';
import { ApiProblem, get, pathOf, wordsOf } from '../data/api.js';
import type { RunEvent } from '../data/api-types.js';
import { liveEvents } from './run-record.js';
import { EventMessage, StoredMessage } from './message.js';

const NOT_STORED =
  'So far, as the events tell it. The conversation itself is stored when the run ends.';

export interface TranscriptProps {
  readonly runId: string;
  readonly events: readonly RunEvent[];
  /** It is fetched each time somebody opens it. */
  readonly isOpen: boolean;
}

type Found =
  | { readonly kind: 'stored'; readonly messages: readonly TranscriptMessage[] }
  | { readonly kind: 'told'; readonly events: readonly RunEvent[] }
  | { readonly kind: 'failed'; readonly why: string };

export function Transcript({ runId, events, isOpen }: TranscriptProps): VNode {
  const [found, setFound] = useState<Found>();
  useEffect(() => {
    if (!isOpen) return undefined;
    const leaving = new AbortController();
    void fetchTranscript(runId, leaving.signal).then((fetched) => {
      if (leaving.signal.aborted) return;
      setFound(fetched === 'not stored' ? { kind: 'told', events: liveEvents(events) } : fetched);
    });
    return () => leaving.abort();
  }, [runId, isOpen]);
  return (
    <div class="transcript">
      <p class="help">{noteOf(found)}</p>
      <ol class="messages">
        {found?.kind === 'stored' &&
          found.messages.map((message, place) => (
            <StoredMessage key={place} message={message} runId={runId} />
          ))}
        {found?.kind === 'told' &&
          found.events.map((event) => (
            <EventMessage key={event.stamp.seq} event={event} runId={runId} />
          ))}
      </ol>
    </div>
  );
}

function noteOf(found: Found | undefined): string {
  switch (found?.kind) {
    case undefined:
      return 'Fetching …';
    case 'stored':
      return '';
    case 'told':
      return NOT_STORED;
    case 'failed':
      return found.why;
  }
}

async function fetchTranscript(runId: string, signal: AbortSignal): Promise<Found | 'not stored'> {
  try {
    const found = await get(pathOf('runs', runId, 'transcript'), signal);
    const { messages } = found as { readonly messages: readonly TranscriptMessage[] };
    return { kind: 'stored', messages };
  } catch (error) {
    if (error instanceof ApiProblem && error.code === 'not_ended') return 'not stored';
    return { kind: 'failed', why: wordsOf(error) };
  }
}
