/** The events of a run that are known, and the story that they tell. */
import type { RunEvent } from '../data/api-types.js';
import { Story } from './story.js';

/** Events of the conversation as it counts: without replies that were taken back. */
export function liveEvents(events: readonly RunEvent[]): readonly RunEvent[] {
  const gone = new Set(
    events.map((event) => (event.type === 'tombstone' ? event.targetMessageId : undefined)),
  );
  return events.filter((event) => event.type !== 'model_response' || !gone.has(event.messageId));
}

export class RunRecord {
  events: RunEvent[] = [];
  story = new Story();

  take(event: RunEvent): void {
    this.events.push(event);
    this.story.take(event);
  }

  /** What was seen from this number on did not happen. */
  reset(fromSeq: number): void {
    const valid = this.events.filter(({ stamp }) => stamp.seq < fromSeq);
    this.events = [];
    this.story = new Story();
    for (const event of valid) this.take(event);
  }
}
