/** The conversation: as it is stored when the run has ended, and until then as its events tell it, as they come. */
import type { VNode } from 'preact';
import { useMemo, useRef, useState } from 'preact/hooks';
import type { TranscriptMessage } from '../../../client/read/transcript.js';
import { get, isRefusal, pathOf, wordsOf } from '../data/api.js';
import type { RunEvent } from '../data/api-types.js';
import { usePoll } from '../data/use-poll.js';
import { KeptFocus } from '../parts/kept-focus.js';
import { liveEvents } from './run-record.js';
import { EventMessage, StoredMessage } from './message.js';

const AGAIN_MS = 5_000;
const NOT_STORED =
  'So far, as the events tell it. The conversation itself is stored when the run ends.';

export interface TranscriptProps {
  readonly runId: string;
  /** Filled in place. */
  readonly events: readonly RunEvent[];
  readonly count: number;
  /** It is fetched each time somebody opens it, and when the run has ended. */
  readonly isOpen: boolean;
  readonly isOver: boolean;
}

type Found =
  | { readonly kind: 'stored'; readonly messages: readonly TranscriptMessage[] }
  | { readonly kind: 'told' }
  | { readonly kind: 'failed'; readonly why: string };

export function Transcript({ runId, events, count, isOpen, isOver }: TranscriptProps): VNode {
  const found = useFound(runId, isOpen ? String(isOver) : '');
  const told = useMemo(() => liveEvents(events), [events, isOpen ? count : 'hidden']);
  return (
    <KeptFocus class="transcript" label="Conversation" fallback=".messages">
      <p class="help">{noteOf(found)}</p>
      <ol class="messages" tabIndex={-1}>
        {found?.kind === 'stored' &&
          found.messages.map((message, place) => (
            <StoredMessage key={place} message={message} runId={runId} />
          ))}
        {found?.kind === 'told' &&
          told.map((event) => <Told key={event.stamp.seq} event={event} runId={runId} />)}
      </ol>
    </KeptFocus>
  );
}

/** Of a long conversation nearly everything is as it was. */
function Told({ event, runId }: { readonly event: RunEvent; readonly runId: string }): VNode {
  return useMemo(() => <EventMessage event={event} runId={runId} />, [event]);
}

/** Looked for once in each `round`, in '' not at all; what is shown stays until something else is found. */
function useFound(runId: string, round: string): Found | undefined {
  const [found, setFound] = useState<Found>();
  const settled = useRef('');
  usePoll(
    async (signal) => {
      if (round === '') settled.current = '';
      if (settled.current === round) return;
      const next = await fetchTranscript(runId, signal);
      if (signal.aborted) return;
      settled.current = round;
      setFound((before) => (next.kind === 'failed' ? (before ?? next) : next));
    },
    { everyMs: AGAIN_MS, name: round },
  );
  return found;
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

/** Errors: what another request may not meet. */
async function fetchTranscript(runId: string, signal: AbortSignal): Promise<Found> {
  try {
    const found = await get(pathOf('runs', runId, 'transcript'), signal);
    const { messages } = found as { readonly messages: readonly TranscriptMessage[] };
    return { kind: 'stored', messages };
  } catch (error) {
    if (!isRefusal(error)) throw error;
    if (error.code === 'not_ended') return { kind: 'told' };
    return { kind: 'failed', why: wordsOf(error) };
  }
}
