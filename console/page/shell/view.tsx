/** The view of an address. */
import type { VNode } from 'preact';
import type { Person } from '../data/api-types.js';
import { RunView } from '../run/run.js';
import { Runs } from '../runs/runs.js';
import { inboxView } from '../inbox.js';
import { OldView } from './old-view.js';
import type { Place } from './route.js';

export interface ViewProps {
  readonly me: Person;
  readonly place: Place;
}

export function View({ me, place }: ViewProps): VNode {
  switch (place.view) {
    case 'inbox':
      return <OldView me={me} place={place} make={inboxView} />;
    case 'runs':
      return <Runs me={me} />;
    case 'run':
      return <RunView runId={place.id ?? ''} />;
  }
}
