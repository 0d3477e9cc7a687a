/** The view of an address. */
import type { VNode } from 'preact';
import type { Person } from '../data/api-types.js';
import { InboxView } from '../inbox/inbox.js';
import { Later } from '../parts/later.js';
import { may, NotForYou } from '../parts/rights.js';
import type { Place } from './route.js';

export interface ViewProps {
  readonly me: Person;
  readonly place: Place;
}

const NEEDED = {
  runs: 'read',
  failures: 'read',
  run: 'read',
  diff: 'read',
  goals: 'read',
  goal: 'read',
  evidence: 'read',
  brief: 'read',
  freezes: 'read',
  trail: 'audit',
  connectors: 'connectors',
} as const;

export function View(props: ViewProps): VNode {
  const { me, place } = props;
  if (me.recording !== undefined) return <Later load={recording} props={props} />;
  const needed = place.view === 'inbox' ? undefined : NEEDED[place.view];
  if (needed !== undefined && !may(me, needed)) return <NotForYou me={me} needed={needed} />;
  switch (place.view) {
    case 'inbox':
      return <InboxView me={me} askId={place.id} />;
    case 'runs':
      return <Later load={runs} props={props} />;
    case 'failures':
      return <Later load={failures} props={props} />;
    case 'freezes':
      return <Later load={freezes} props={props} />;
    case 'trail':
      return <Later load={trail} props={props} />;
    case 'connectors':
      return <Later load={connectors} props={props} />;
    case 'goals':
    case 'goal':
    case 'evidence':
    case 'brief':
      return <Later load={ofGoals} props={props} />;
    case 'diff':
      return <Later load={diff} props={props} />;
    case 'run':
      return <Later load={run} props={props} />;
  }
}

type Loaded = (props: ViewProps) => VNode;

const run = async (): Promise<Loaded> => {
  const { RunView } = await import('../run/run.js');
  return ({ me, place: { id = '', part } }) => (
    <RunView
      runId={id}
      step={part === undefined ? undefined : Number(part)}
      mayFork={may(me, 'start')}
    />
  );
};
const recording = async (): Promise<Loaded> => {
  const { RecordingView } = await import('../steps/recording-view.js');
  return ({ me, place: { part } }) => {
    const step = part === undefined ? undefined : Number(part);
    return me.recording === undefined ? (
      <></>
    ) : (
      <RecordingView recording={me.recording} step={step} />
    );
  };
};
const diff = async (): Promise<Loaded> => {
  const { DiffView } = await import('../steps/diff-view.js');
  return ({ place: { id = '', part = '' } }) => <DiffView runId={id} other={part} />;
};
const runs = async (): Promise<Loaded> => {
  const { Runs } = await import('../runs/runs.js');
  return ({ me }) => <Runs me={me} />;
};
const failures = async (): Promise<Loaded> => {
  const { FailuresView } = await import('../runs/failures-view.js');
  return ({ me }) => <FailuresView me={me} />;
};
const freezes = async (): Promise<Loaded> => {
  const { FreezesView } = await import('../controls/freezes-view.js');
  return ({ me }) => <FreezesView me={me} />;
};
const trail = async (): Promise<Loaded> => {
  const { TrailView } = await import('../controls/trail-view.js');
  return ({ me }) => <TrailView me={me} />;
};
const connectors = async (): Promise<Loaded> => {
  const { ConnectorsView } = await import('../controls/connectors-view.js');
  return () => <ConnectorsView />;
};
const ofGoals = async (): Promise<Loaded> => {
  const { BriefView, EvidenceView, GoalsView, GoalView } = await import('../goals/views.js');
  return ({ me, place: { view, id = '', part = '' } }) => {
    if (view === 'goal') return <GoalView me={me} goalId={id} />;
    if (view === 'evidence') return <EvidenceView goalId={id} evidenceId={part} />;
    if (view === 'brief') return <BriefView goalId={id} cycle={part} />;
    return <GoalsView me={me} />;
  };
};
