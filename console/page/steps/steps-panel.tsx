/** A run as it was after any of its steps: a slider over them, and the moment that is chosen. */
import type { VNode } from 'preact';
import { useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks';
import type { StepsIndex } from '../data/api-types.js';
import { Button } from '../parts/button.js';
import { textIn } from '../parts/form.js';
import { exactTime, plural, whole, words } from '../parts/format.js';
import { InertLine } from '../parts/inert.js';
import { stepPath } from '../parts/paths.js';
import { useKept } from '../parts/use-kept.js';
import { ForkPanel } from './fork-panel.js';
import { MomentShown } from './moment.js';
import { kindsOf, waysFrom, type WaysFrom } from './step-kinds.js';
import { useMoment, useSteps } from './use-steps.js';

const REST_MS = 100;

export interface StepsPanelProps {
  readonly runId: string;
  /** The one that the address names. */
  readonly step?: number | undefined;
  /** Of the desk of a server, for whoever may start runs. */
  readonly mayFork?: boolean;
}

export function StepsPanel({ runId, step, mayFork = false }: StepsPanelProps): VNode {
  const { index, fault, again } = useSteps(runId);
  if (index === undefined) {
    return (
      <p class="empty quiet" role="status">
        {fault ?? 'Reading the record …'}
      </p>
    );
  }
  if (index.steps.length === 0) {
    return (
      <div class="empty quiet">
        <p>{index.divergences.length === 0 && 'The run has decided nothing yet.'}</p>
        <Divergences index={index} />
        <Button label="Look again" press={again} />
      </div>
    );
  }
  return <KnownSteps index={index} first={step} again={again} mayFork={mayFork} stale={fault} />;
}

interface KnownStepsProps {
  readonly index: StepsIndex;
  readonly first: number | undefined;
  readonly again: () => void;
  readonly mayFork: boolean;
  /** Why newer steps are not there. */
  readonly stale: string | undefined;
}

function KnownSteps({ index, first, again, mayFork, stale }: KnownStepsProps): VNode {
  const { runId, steps } = index;
  const [chosen, go] = useState(first ?? steps.length);
  const step = Math.min(Math.max(1, chosen), steps.length);
  const [kind, setKind] = useKept('kind', '');
  const ways = useMemo(() => waysFrom(steps, step, kind), [steps, step, kind]);
  const { moment, fault } = useMoment(index, step, ways.likely);
  useAddress(stepPath(runId, step));
  // Of a step that is being fetched nothing is drawn anew but its number.
  const shown = useMemo(
    () => moment && <MomentShown key={moment.step} moment={moment} go={go} />,
    [moment, runId],
  );
  return (
    <div class="time-travel">
      <Ways {...{ steps, step, go, kind, setKind, ways }} />
      <p class="help">
        <StepSaid index={index} step={step} /> <a href={stepPath(runId, step)}>Link to this step</a>{' '}
        {index.source === 'run' && (
          <button type="button" class="link" onClick={again}>
            Look for newer steps
          </button>
        )}
      </p>
      <Divergences index={index} />
      {mayFork && index.source === 'run' && <ForkPanel runId={runId} step={step} />}
      {(fault ?? stale) !== undefined && <p class="notice failed">{fault ?? stale}</p>}
      {moment !== undefined && (fault === undefined || moment.step === step) && (
        <div aria-busy={moment.step === step ? 'false' : 'true'}>{shown}</div>
      )}
    </div>
  );
}

/** Names the first step of a drag at once, and the one at which it rests: browsers refuse an address that changes at each. */
function useAddress(path: string): void {
  const written = useRef(path);
  const movedAt = useRef(0);
  // In the moment of the change: a reload right behind it comes back to the step that is shown.
  useLayoutEffect(() => {
    if (written.current === path) return undefined;
    const write = (): void => {
      if (writeAddress(path)) written.current = path;
    };
    const sinceMs = Date.now() - movedAt.current;
    movedAt.current = Date.now();
    if (sinceMs > REST_MS) {
      write();
      return undefined;
    }
    const timer = setTimeout(write, REST_MS);
    return () => clearTimeout(timer);
  }, [path]);
}

/** Some browsers take 100 addresses in half a minute, and refuse the next: the older one stays then. */
function writeAddress(path: string): boolean {
  try {
    history.replaceState(history.state, '', path);
    return true;
  } catch {
    return false;
  }
}

interface WaysProps {
  readonly steps: StepsIndex['steps'];
  readonly step: number;
  readonly go: (step: number) => void;
  readonly kind: string;
  readonly setKind: (kind: string) => void;
  readonly ways: WaysFrom;
}

function Ways({ steps, step, go, kind, setKind, ways }: WaysProps): VNode {
  const groups = useMemo(() => kindsOf(steps), [steps]);
  const toward = (to: number | undefined, label: string): VNode => (
    <button
      type="button"
      class="button"
      // It keeps the focus of whoever has come to the end with it.
      aria-disabled={to === undefined ? 'true' : 'false'}
      onClick={() => to !== undefined && go(to)}
    >
      {label}
    </button>
  );
  return (
    <div class="step-ways">
      {toward(ways.previous, '← Previous')}
      {toward(ways.next, 'Next →')}
      <select aria-label="Kind of step" value={kind} onChange={(event) => setKind(textIn(event))}>
        <option value="">of any kind</option>
        {groups.map(({ name, kinds }) => (
          <optgroup key={name} label={name}>
            {kinds.map((one) => (
              <option key={one} value={one}>
                {words(one)}
              </option>
            ))}
          </optgroup>
        ))}
      </select>
      <input
        type="range"
        aria-label="Step"
        min={1}
        max={steps.length}
        value={step}
        onInput={(event) => go(Number(textIn(event)))}
      />
    </div>
  );
}

interface StepSaidProps extends Pick<WaysProps, 'step'> {
  readonly index: StepsIndex;
}

function StepSaid({ index, step }: StepSaidProps): VNode {
  const { at, segment } = index.steps[step - 1]!;
  return (
    <span role="status">
      {`Step ${whole(step)} of ${whole(index.steps.length)}, segment ${segment}, ${exactTime(at)}.`}
    </span>
  );
}

function Divergences({
  index: { divergences, redactions },
}: {
  readonly index: StepsIndex;
}): VNode {
  return (
    <>
      {divergences.map(({ step, segment, reason }) => (
        <p class="notice stopped" key={segment}>
          {`Segment ${segment} cannot be shown from step ${step} on: `}
          <InertLine text={reason} max={400} />
        </p>
      ))}
      {redactions.map(({ rule, count }) => (
        <p class="help" key={rule}>
          The rule <InertLine text={rule} /> {`of its redaction hides ${plural(count, 'place')}.`}
        </p>
      ))}
    </>
  );
}
