/** The events themselves, as they are stored: the newest last, a piece at a time. */
import type { VNode } from 'preact';
import { useMemo, useState } from 'preact/hooks';
import type { RunEvent } from '../data/api-types.js';
import { Button } from '../parts/button.js';
import { Exact } from '../parts/folded.js';
import { textIn } from '../parts/form.js';
import { exactTime } from '../parts/format.js';
import { InertLine } from '../parts/inert.js';

const SHOWN_AT_FIRST = 200;
const SHOWN_MORE = 500;

export interface EventsPanelProps {
  /** Filled in place. */
  readonly events: readonly RunEvent[];
  readonly count: number;
  /** Nothing new is drawn while nobody sees it. */
  readonly isOpen: boolean;
}

export function EventsPanel({ events, count, isOpen }: EventsPanelProps): VNode {
  const [type, setType] = useState('');
  const [shown, setShown] = useState(SHOWN_AT_FIRST);
  const [types, fitting] = useMemo(
    () => [
      [...new Set(events.map((event) => event.type))],
      events.filter((event) => type === '' || event.type === type),
    ],
    [events, type, isOpen ? count : 'hidden'],
  );
  const hidden = fitting.length - shown;
  return (
    <div class="events-panel">
      <select aria-label="Type of event" value={type} onChange={(event) => setType(textIn(event))}>
        <option value="">Every type</option>
        {types.map((name) => (
          <option key={name} value={name}>
            {name}
          </option>
        ))}
      </select>
      <div class="list-end">
        {hidden > 0 && (
          <Button
            label={`Show older ones (${hidden})`}
            press={() => setShown(shown + SHOWN_MORE)}
          />
        )}
      </div>
      <ol class="events">
        {fitting.slice(-shown).map((event) => (
          <EventRow key={event.stamp.seq} event={event} />
        ))}
      </ol>
    </div>
  );
}

function EventRow({ event }: { readonly event: RunEvent }): VNode {
  return useMemo(() => {
    const { seq, at } = event.stamp;
    const title = (
      <>
        <span class="event-seq">{seq}</span>
        <span class="event-type">{event.type}</span>
        <span class="event-about">
          <InertLine text={aboutOf(event)} max={100} />
        </span>
        <time title={exactTime(at)}>{new Date(at).toISOString().slice(11, 23)}</time>
      </>
    );
    return (
      <li>
        <Exact title={title} value={event} />
      </li>
    );
  }, [event]);
}

function aboutOf(event: RunEvent): string {
  if ('tool' in event && event.tool !== undefined) return event.tool;
  if ('reason' in event && event.reason !== undefined) return event.reason;
  if (event.type === 'retry') return `attempt ${event.attempt}, after ${event.class}`;
  return 'code' in event && event.code !== undefined ? event.code : '';
}
