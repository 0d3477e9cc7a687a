/**
 * Carrier: the part of a durable state by which it hands effects to the shell and hears of them again. A run is one;
 * whatever else decides by rules (core/step/advance.ts) is another.
 * Invariant: `rules` is the number that it decides by (core/step/changes.ts), and changes only between segments.
 */
import type { ActivityKind } from './effect.js';
import type { RunEvent } from './event.js';

export interface Carrier {
  readonly rules: number;
  /** Time of the newest input, ms since epoch. */
  readonly now: number;
  readonly inflight: { readonly [effectId: string]: InFlight };
  /** Number of the next effect. */
  readonly nextEffect: number;
  readonly outbox: Outbox;
  readonly segment: Segment;
  /** Hash of the route that the first event tells. Absent: it tells none, or is still to come. */
  readonly routeTold?: string;
  /** Within `advance` alone: name of the rule that is applied. */
  readonly rule?: string;
}

export interface InFlight {
  readonly kind: ActivityKind | 'timer' | 'start_child';
  readonly cancelled: boolean;
  /** Timers: when they fire, ms since epoch. */
  readonly at?: number;
  /** Work: when it was handed over, ms since epoch; absent under rules without `workedTime`. */
  readonly since?: number;
}

export interface Outbox {
  readonly nextSeq: number;
  /** Oldest first; each until the store is known to have it. */
  readonly events: readonly RunEvent[];
  /** The effect that carries events now; nobody else may until it is back. */
  readonly carrier?: string;
}

export interface Segment {
  readonly number: number;
  /** Its history is long enough: nothing starts any more, and the next segment begins. */
  readonly full: boolean;
  readonly opened: boolean;
  /** Number of its first effect; absent: 1, or that of a segment that began under rules without `waitsAnew`. */
  readonly firstEffect?: number;
}
