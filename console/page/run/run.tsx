/**
 * One run: what it does and did, as it happens. Everything on the page is drawn from its events, but for the
 * figures that only the run itself knows.
 */
import type { VNode } from 'preact';
import { useState } from 'preact/hooks';
import { wordsOf } from '../data/api.js';
import type { RunDetail, RunState } from '../data/api-types.js';
import { Button } from '../parts/button.js';
import { goalPath } from '../parts/paths.js';
import { Later } from '../parts/later.js';
import { Tabs } from '../parts/tabs.js';
import { useTitle } from '../parts/use-title.js';
import type { StepsPanelProps } from '../steps/steps-panel.js';
import { EventsPanel } from './events-panel.js';
import { Gauges } from './gauges.js';
import { LiveText } from './live-text.js';
import { hasEnded } from './run-data.js';
import { RunHead } from './run-head.js';
import { StandingGrants } from './standing-grants.js';
import { Timeline } from './timeline.js';
import type { TreePanelProps } from './tree-panel.js';
import { Transcript } from './transcript.js';
import { useRecord } from './use-record.js';
import { useRun } from './use-run.js';
import { Waits } from './waits.js';

const STEPS_TAB = 3;
/** Of a run that has more, the newest are fetched, and all when somebody asks for them. */
const EVENTS_AT_FIRST = 300;

const steps = async (): Promise<(props: StepsPanelProps) => VNode> => {
  const { StepsPanel } = await import('../steps/steps-panel.js');
  return (props) => <StepsPanel {...props} />;
};

const treePanel = async (): Promise<(props: TreePanelProps) => VNode> => {
  const { TreePanel } = await import('./tree-panel.js');
  return (props) => <TreePanel {...props} />;
};

export interface RunViewProps {
  readonly runId: string;
  /** A step that the address names. */
  readonly step?: number | undefined;
  /** Whoever looks may start runs. */
  readonly mayFork?: boolean;
}

export function RunView({ runId, step, mayFork = false }: RunViewProps): VNode {
  useTitle('Run');
  const { run, state, refusal, soon } = useRun(runId);
  return (
    <article class="run" aria-label="A run">
      {run !== undefined && run.kind === undefined && (
        <KnownRun run={run} state={state} changed={soon} step={step} mayFork={mayFork} />
      )}
      {run?.kind === 'goal' && (
        <div class="empty quiet">
          <p>The id is that of a goal.</p>
          <a href={goalPath(runId)}>The goal</a>
          {step !== undefined && <Later load={steps} props={{ runId, step }} />}
        </div>
      )}
      {run === undefined && refusal === undefined && (
        <p class="empty quiet" role="status">
          Fetching the run …
        </p>
      )}
      {run === undefined && refusal !== undefined && (
        <div class="empty quiet">
          <p>{wordsOf(refusal)}</p>
          <a href="/runs">All runs</a>
        </div>
      )}
    </article>
  );
}

interface KnownRunProps {
  readonly run: RunDetail;
  readonly state: RunState | undefined;
  readonly changed: () => void;
  readonly step: number | undefined;
  readonly mayFork: boolean;
}

function KnownRun(props: KnownRunProps): VNode {
  const { lastSeq } = props.run;
  const [from, setFrom] = useState(() => Math.max(0, lastSeq + 1 - EVENTS_AT_FIRST));
  return <RunFrom key={from} {...props} from={from} fetchAll={() => setFrom(0)} />;
}

interface RunFromProps extends KnownRunProps {
  /** Number of the first event that is fetched. */
  readonly from: number;
  readonly fetchAll: () => void;
}

function RunFrom({ run, state, changed, step, mayFork, from, fetchAll }: RunFromProps): VNode {
  const { runId } = run;
  const record = useRecord(runId, from, changed);
  const { story, events } = record;
  const known = story.result === undefined ? state : undefined;
  const isOver = hasEnded(run);
  const hasBelow =
    from > 0 || events.some((event) => event.type === 'tool_started' && event.child !== undefined);
  const timeline = (): VNode => (
    <>
      <Timeline story={story} runId={runId} />
      {!isOver && <LiveText runId={runId} events={events} />}
    </>
  );
  return (
    <>
      <RunHead run={run} changed={changed} />
      {!isOver && <Waits runId={runId} />}
      <Gauges state={known} story={story} />
      <StandingGrants grants={known?.grants ?? []} />
      {from > 0 && <Newest from={from} fetchAll={fetchAll} />}
      <Tabs
        label="Of the run"
        first={step === undefined ? 0 : STEPS_TAB}
        tabs={[
          { name: 'Timeline', draw: timeline },
          {
            name: 'Conversation',
            draw: (isOpen) => (
              <Transcript
                runId={runId}
                events={events}
                count={events.length}
                isOpen={isOpen}
                isOver={isOver}
              />
            ),
          },
          {
            name: 'Events',
            draw: (isOpen) => <EventsPanel events={events} count={events.length} isOpen={isOpen} />,
          },
          { name: 'Steps', draw: () => <Later load={steps} props={{ runId, step, mayFork }} /> },
          ...(hasBelow
            ? [
                {
                  name: 'Sub-agents',
                  draw: (isOpen: boolean) => <Later load={treePanel} props={{ runId, isOpen }} />,
                },
              ]
            : []),
        ]}
      />
    </>
  );
}

function Newest({ from, fetchAll }: Pick<RunFromProps, 'from' | 'fetchAll'>): VNode {
  return (
    <p class="help">
      {`Only events from number ${from} on are shown. `}
      <Button label="Show all" press={fetchAll} />
    </p>
  );
}
