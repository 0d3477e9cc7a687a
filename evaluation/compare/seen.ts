/** What judges look at. */
import type { Observation } from '../engine.js';
import type { Fixture } from '../fixture.js';
import { trailOf, type Trail } from './trail.js';

export interface Seen {
  readonly fixture: Fixture;
  readonly observation: Observation;
  readonly trail: Trail;
}

export function seen(fixture: Fixture, observation: Observation): Seen {
  return { fixture, observation, trail: trailOf(observation.events) };
}
