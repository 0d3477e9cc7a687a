/** The view of an address. */
import type { ComponentType, VNode } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import type { Person } from '../data/api-types.js';
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
      return <Later me={me} load={freezes} />;
    case 'trail':
      return <Later me={me} load={trail} />;
    case 'run':
      return <RunView runId={place.id ?? ''} />;
  }
}

type Loaded = ComponentType<{ readonly me: Person }>;

const freezes = async (): Promise<Loaded> =>
  (await import('../controls/freezes-view.js')).FreezesView;
const trail = async (): Promise<Loaded> => (await import('../controls/trail-view.js')).TrailView;

interface LaterProps {
  readonly me: Person;
  readonly load: () => Promise<Loaded>;
}

/** A view that few people open: its code is fetched when somebody does. */
function Later({ me, load }: LaterProps): VNode {
  const [Found, setFound] = useState<Loaded | 'failed'>();
  useEffect(() => {
    load().then(
      (view) => setFound(() => view),
      () => setFound('failed'),
    );
  }, [load]);
  if (Found === undefined) {
    return (
      <p class="empty quiet" role="status">
        Fetching the view …
      </p>
    );
  }
  if (Found === 'failed') {
    return <p class="empty quiet">This view cannot be fetched now. Load the page anew.</p>;
  }
  return <Found me={me} />;
}
