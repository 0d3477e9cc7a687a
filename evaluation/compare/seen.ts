/** What judges look at. */
import { callNameOf, inWrittenNames } from '../call-names.js';
import type { Observation } from '../engine.js';
import type { Fixture } from '../fixture.js';
import { familyOf } from '../goal-tree.js';
import { trailOf, type Trail } from './trail.js';

export interface Seen {
  readonly fixture: Fixture;
  readonly observation: Observation;
  readonly trail: Trail;
}

export function seen(fixture: Fixture, observation: Observation): Seen {
  const written = inWrittenNames(observation, callNameOf(fixture));
  const { events, goal } = written;
  const trail =
    goal === undefined ? trailOf(events) : { ...trailOf(goal.tree), family: familyOf(events) };
  return { fixture, observation: written, trail };
}
