/** The events of a run that are known, and the story that they tell. */
import type { RunEvent } from '../data/api-types.js';
import { Story } from './story.js';

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
