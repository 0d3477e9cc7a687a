/** One goal: what is wanted, how far it is, what it rests on, what can be said to it; as it happens. */
import type { VNode } from 'preact';
import { useRef } from 'preact/hooks';
import { pathOf, wordsOf } from '../data/api.js';
import type { GoalDetail, Person } from '../data/api-types.js';
import { useEvents } from '../data/use-events.js';
import { Later } from '../parts/later.js';
import { Tabs } from '../parts/tabs.js';
import { may } from '../parts/rights.js';
import { useTitle } from '../parts/use-title.js';
import { EventsPanel } from '../run/events-panel.js';
import { Waits } from '../run/waits.js';
import { CyclesPanel } from './cycles-panel.js';
import { GoalAsk } from './goal-ask.js';
import { GoalControls } from './goal-controls.js';
import { GoalFigures } from './goal-figures.js';
import { GoalHead } from './goal-head.js';
import { GoalEvents } from './goal-record.js';
import { LogPanel } from './log-panel.js';
import { PlanPanel } from './plan-panel.js';
import { ReviewsPanel } from './reviews-panel.js';
import { hasEnded, useGoal } from './use-goal.js';

interface GoalViewProps {
  readonly me: Person;
  readonly goalId: string;
}

export function GoalView({ me, goalId }: GoalViewProps): VNode {
  useTitle('Goal');
  const { goal, refusal, soon } = useGoal(goalId);
  return (
    <article class="run goal" aria-label="A goal">
      {goal !== undefined && <KnownGoal me={me} goal={goal} changed={soon} />}
      {goal === undefined && refusal === undefined && (
        <p class="empty quiet" role="status">
          Fetching the goal …
        </p>
      )}
      {goal === undefined && refusal !== undefined && (
        <div class="empty quiet">
          <p>{wordsOf(refusal)}</p>
          <a href="/goals">All goals</a>
        </div>
      )}
    </article>
  );
}

interface KnownGoalProps {
  readonly me: Person;
  readonly goal: GoalDetail;
  readonly changed: () => void;
}

function KnownGoal({ me, goal, changed }: KnownGoalProps): VNode {
  const { goalId, pending, pendingOfCycle } = goal;
  const known = useEvents({
    path: pathOf('goals', goalId, 'stream'),
    make: () => new GoalEvents(),
    noun: 'goal',
    // What was there before the view was opened is in what it fetched.
    told: ({ stamp }) => {
      if (stamp.seq > goal.lastSeq) changed();
    },
  });
  const isOver = hasEnded(goal);
  // What somebody types while the goal ends is not taken from them.
  const wasLive = useRef(false);
  if (!isOver) wasLive.current = true;
  return (
    <>
      <GoalHead goal={goal} />
      {!isOver && <Waits runId={goalId} />}
      {pending.map(({ askId }) => (
        <GoalAsk key={askId} askId={askId} me={me} changed={changed} />
      ))}
      {pendingOfCycle.map(({ askId }) => (
        <GoalAsk key={askId} askId={askId} me={me} changed={changed} isOfCycle />
      ))}
      <GoalFigures goal={goal} />
      {wasLive.current && <GoalControls me={me} goal={goal} isOver={isOver} changed={changed} />}
      <GoalTabs me={me} goal={goal} known={known} isEditable={wasLive.current} changed={changed} />
    </>
  );
}

interface GoalTabsProps extends KnownGoalProps {
  readonly known: GoalEvents;
  /** Somebody may have begun to change the plan. */
  readonly isEditable: boolean;
}

function GoalTabs({ me, goal, known, isEditable, changed }: GoalTabsProps): VNode {
  const { goalId, record } = goal;
  const { events, cycles } = known;
  const editing = { isOver: hasEnded(goal), changed };
  return (
    <Tabs
      label="Of the goal"
      tabs={[
        {
          name: 'Plan',
          draw: () => (
            <PlanPanel
              goalId={goalId}
              record={record}
              editing={isEditable && may(me, 'steer') ? editing : undefined}
            />
          ),
        },
        {
          name: 'Charts',
          draw: (isOpen) => isOpen && <Later load={charts} props={{ record: known }} />,
        },
        {
          name: 'Reviews',
          draw: () => <ReviewsPanel goalId={goalId} reviews={record?.reviews ?? []} />,
        },
        {
          name: 'Cycles',
          draw: () => <CyclesPanel goalId={goalId} cycles={[...cycles.values()]} />,
        },
        { name: 'Log', draw: () => <LogPanel goalId={goalId} log={record?.log ?? []} /> },
        {
          name: 'Events',
          draw: (isOpen) => <EventsPanel events={events} count={events.length} isOpen={isOpen} />,
        },
      ]}
    />
  );
}

/** What draws lines is larger than the rest of the view. */
const charts = async () => (await import('./charts-panel.js')).ChartsPanel;
