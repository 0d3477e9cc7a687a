/** The view of an address. */
import type { VNode } from 'preact';
import type { Person } from '../data/api-types.js';
import { FreezesView } from '../controls/freezes-view.js';
import { TrailView } from '../controls/trail-view.js';
import { InboxView } from '../inbox/inbox.js';
import { RunView } from '../run/run.js';
import { Runs } from '../runs/runs.js';
import type { Place } from './route.js';

export interface ViewProps {
  readonly me: Person;
  readonly place: Place;
}

export function View({ me, place }: ViewProps): VNode {
  switch (place.view) {
    case 'inbox':
      return <InboxView me={me} askId={place.id} />;
    case 'runs':
      return <Runs me={me} />;
    case 'freezes':
      return <FreezesView />;
    case 'trail':
      return <TrailView me={me} />;
    case 'run':
      return <RunView runId={place.id ?? ''} />;
  }
}
