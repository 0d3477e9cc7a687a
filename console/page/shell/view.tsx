/** The view of an address. */
import type { VNode } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import type { Person } from '../data/api-types.js';
import { InboxView } from '../inbox/inbox.js';
import { may, NotForYou } from '../parts/rights.js';
import { RunView } from '../run/run.js';
import { Runs } from '../runs/runs.js';
import type { Place } from './route.js';

export interface ViewProps {
  readonly me: Person;
  readonly place: Place;
}

const NEEDED = {
  runs: 'read',
  run: 'read',
  goals: 'read',
  goal: 'read',
  evidence: 'read',
  brief: 'read',
  freezes: 'read',
  trail: 'audit',
} as const;

export function View({ me, place }: ViewProps): VNode {
  const needed = place.view === 'inbox' ? undefined : NEEDED[place.view];
  if (needed !== undefined && !may(me, needed)) return <NotForYou me={me} needed={needed} />;
  switch (place.view) {
    case 'inbox':
      return <InboxView me={me} askId={place.id} />;
    case 'runs':
      return <Runs me={me} />;
    case 'freezes':
      return <Later me={me} place={place} load={freezes} />;
    case 'trail':
      return <Later me={me} place={place} load={trail} />;
    case 'goals':
      return <Later me={me} place={place} load={goals} />;
    case 'goal':
      return <Later me={me} place={place} load={goal} />;
    case 'evidence':
      return <Later me={me} place={place} load={evidence} />;
    case 'brief':
      return <Later me={me} place={place} load={brief} />;
    case 'run':
      return <RunView runId={place.id ?? ''} />;
  }
}

/** A view draws itself from what is known of the person, and from its address. */
type Loaded = (me: Person, place: Place) => VNode;

const freezes = async (): Promise<Loaded> => {
  const { FreezesView } = await import('../controls/freezes-view.js');
  return (me) => <FreezesView me={me} />;
};
const trail = async (): Promise<Loaded> => {
  const { TrailView } = await import('../controls/trail-view.js');
  return (me) => <TrailView me={me} />;
};

const goals = async (): Promise<Loaded> => {
  const { GoalsView } = await import('../goals/goals-view.js');
  return (me) => <GoalsView me={me} />;
};
const goal = async (): Promise<Loaded> => {
  const { GoalView } = await import('../goals/goal-view.js');
  return (me, { id = '' }) => <GoalView me={me} goalId={id} />;
};
const evidence = async (): Promise<Loaded> => {
  const { EvidenceView } = await import('../goals/evidence-view.js');
  return (_, { id = '', part = '' }) => <EvidenceView goalId={id} evidenceId={part} />;
};
const brief = async (): Promise<Loaded> => {
  const { BriefView } = await import('../goals/brief-view.js');
  return (_, { id = '', part = '' }) => <BriefView goalId={id} cycle={part} />;
};

interface LaterProps {
  readonly me: Person;
  readonly place: Place;
  readonly load: () => Promise<Loaded>;
}

/** A view that few people open: its code is fetched when somebody does. */
function Later({ me, place, load }: LaterProps): VNode {
  const [found, setFound] = useState<Loaded | 'failed'>();
  useEffect(() => {
    load().then(
      (view) => setFound(() => view),
      () => setFound('failed'),
    );
  }, [load]);
  if (found === undefined) {
    return (
      <p class="empty quiet" role="status">
        Fetching the view …
      </p>
    );
  }
  if (found === 'failed') {
    return <p class="empty quiet">This view cannot be fetched now. Load the page anew.</p>;
  }
  return found(me, place);
}
