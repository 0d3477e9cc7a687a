/** What the model says at this moment. */
import type { VNode } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { pathOf } from '../data/api.js';
import type { RunEvent, StreamChunk } from '../data/api-types.js';
import { follow } from '../data/stream.js';
import { InertBlock } from '../parts/inert.js';
import { Spoken } from './spoken.js';

const CHARS_SHOWN = 6_000;
const LINES_SHOWN = 200;
const DRAW_MS = 60;

export interface LiveTextProps {
  readonly runId: string;
  readonly events: readonly RunEvent[];
}

export function LiveText({ runId, events }: LiveTextProps): VNode {
  const spoken = useSpoken(runId);
  const seen = useRef(events);
  const told = useRef(0);
  // After a reset they are others.
  if (seen.current !== events) told.current = 0;
  seen.current = events;
  for (; told.current < events.length; told.current += 1) {
    const event = events[told.current];
    if (event !== undefined) spoken.tell(event);
  }
  return (
    <section class="live" aria-label="The model’s words now" hidden={spoken.text === ''}>
      <h3>The model is speaking …</h3>
      <div class="live-text">
        <InertBlock
          text={spoken.text.slice(-CHARS_SHOWN)}
          charsMax={CHARS_SHOWN}
          linesMax={LINES_SHOWN}
        />
      </div>
    </section>
  );
}

/** It is filled in place, and drawn again when it has changed. */
function useSpoken(runId: string): Spoken {
  const spoken = useRef(new Spoken());
  const [, setDrawn] = useState(0);
  useEffect(() => {
    const leaving = new AbortController();
    let timer: ReturnType<typeof setTimeout> | undefined;
    void follow(pathOf('runs', runId, 'tokens'), {
      signal: leaving.signal,
      entry({ event, data }) {
        if (event !== 'chunk') return;
        spoken.current.hear(data as StreamChunk);
        timer ??= setTimeout(() => {
          timer = undefined;
          setDrawn((count) => count + 1);
        }, DRAW_MS);
      },
    });
    return () => {
      leaving.abort();
      clearTimeout(timer);
    };
  }, [runId]);
  return spoken.current;
}
