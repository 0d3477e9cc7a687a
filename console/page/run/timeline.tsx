/** The timeline of a run: its steps by turns, each with its share of the time, and what was said and done. */
import { Fragment, type VNode } from 'preact';
import { useMemo } from 'preact/hooks';
import { now } from '../data/connection.js';
import { cost, duration, plural } from '../parts/format.js';
import { inertText } from '../parts/inert-text.js';
import { useTick } from '../parts/use-tick.js';
import { StepRow } from './step-row.js';
import type { Step, Story } from './story.js';
import type { Tone } from './story-words.js';
import { Bar } from './time-bar.js';
import { scaleOf } from './time-scale.js';

const STEPS_SHOWN_MAX = 2_000;
/** What is under way grows. */
const GROW_MS = 2_000;

const KEYS: readonly (readonly [tone: Tone, words: string])[] = [
  ['model', 'model'],
  ['tool', 'tool'],
  ['wait', 'waiting'],
];

export interface TimelineProps {
  readonly story: Story;
  readonly runId: string;
}

export function Timeline({ story, runId }: TimelineProps): VNode {
  const shown = story.steps.slice(-STEPS_SHOWN_MAX);
  const end = useEnd(shown);
  const placeOf = scaleOf(shown, end);
  const span = ({ from, to }: Step) => ({ from: placeOf(from), to: placeOf(to ?? end) });
  return (
    <div class="timeline">
      <div class="overview" role="img" aria-label="The time of the run">
        {shown.map((step) => (
          <Bar key={step.id} step={step} title={inertText(step.title, 100)} {...span(step)} />
        ))}
      </div>
      <p class="legend help">
        {KEYS.map(([tone, name]) => (
          <span class="key" key={tone}>
            <span class={`swatch bar ${tone}`} />
            {name}
          </span>
        ))}
        {legendOf(story, end)}
      </p>
      {story.steps.length > STEPS_SHOWN_MAX && (
        <p class="help">Only the newest steps are shown. All events are under “Events”.</p>
      )}
      <ol class="steps">
        {withTurns(shown).map(({ step, isNewTurn }) => (
          <Fragment key={step.id}>
            {isNewTurn && (
              <li class="turn">
                <h3>{`Turn ${step.turn + 1}`}</h3>
              </li>
            )}
            <StepRow step={step} runId={runId} {...span(step)} />
          </Fragment>
        ))}
      </ol>
    </div>
  );
}

/** The time of what is under way, in ms since epoch; without such a step it stands still. */
function useEnd(steps: readonly Step[]): number {
  useTick(GROW_MS);
  const isUnderWay = steps.some(({ to }) => to === undefined);
  const tick = isUnderWay ? Math.floor(now() / GROW_MS) : 0;
  return useMemo(now, [tick, steps.length]);
}

interface Placed {
  readonly step: Step;
  readonly isNewTurn: boolean;
}

function withTurns(steps: readonly Step[]): readonly Placed[] {
  let turn = -1;
  return steps.map((step) => {
    const isWork = step.tone !== 'note' && step.tone !== 'end';
    const isNewTurn = isWork && step.turn !== turn;
    if (isNewTurn) ({ turn } = step);
    return { step, isNewTurn };
  });
}

function legendOf(story: Story, end: number): string {
  const { steps, modelCalls, toolCalls, retries, costMicroUsd } = story;
  const first = steps[0]?.from ?? 0;
  const last = steps.reduce((latest, { to }) => Math.max(latest, to ?? end), first);
  const waits = steps.filter(({ tone }) => tone === 'wait');
  const waited = waits.reduce((sum, { from, to }) => sum + (to ?? end) - from, 0);
  return [
    `${duration(last - first)} in all`,
    waited > 0 && `${duration(waited)} of them waiting for people`,
    plural(modelCalls, 'model call'),
    plural(toolCalls, 'tool call'),
    retries > 0 && `asked again ${plural(retries, 'time')}`,
    cost(costMicroUsd),
  ]
    .filter((part) => part !== false)
    .join(' · ');
}
