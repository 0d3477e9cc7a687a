/** What must hold of a run's books after every step: reservations, ids, the outbox, time. A part of the invariants. */
import { flying, WORK } from '../../core/step/inflight.js';
import { BATCH_BYTES_MAX, EVENTS_PER_BATCH } from '../../core/step/outbox.js';
import { isOpen, type Run, type Step } from '../../core/state/run.js';
import { DEFAULT_TREE_LIMITS } from '../../core/state/sub-agent.js';
import { started, type StepPredicate } from './step.js';

export const BOOKKEEPING_PREDICATES: readonly StepPredicate[] = [
  reservationsBelongToWork,
  idsAreNew,
  batchesAreBounded,
  outboxHasNoGap,
  everythingIsTold,
  timeAddsUp,
  somethingIsAwaited,
  childrenArePaidFor,
  childrenAreBounded,
];

function reservationsBelongToWork(_before: Run, step: Step): string | undefined {
  const { money, inflight } = step.run;
  const orphan = Object.keys(money.reserved).find(
    (id) => inflight[id] === undefined && id !== step.run.unheard && !isChild(step.run, id),
  );
  return orphan === undefined
    ? undefined
    : `money is reserved for ${orphan}, which is not in flight`;
}

function isChild({ children = [] }: Run, id: string): boolean {
  return children.some(({ child }) => child === id);
}

/** A sub-agent has its money reserved from before its row until its outcome, and one call that waits for it. */
function childrenArePaidFor(_before: Run, { run }: Step): string | undefined {
  if (!isOpen(run)) return undefined;
  const unpaid = (run.children ?? []).find(
    ({ child, sliceMicroUsd }) =>
      sliceMicroUsd !== undefined && run.money.reserved[child] !== sliceMicroUsd,
  );
  if (unpaid !== undefined) return `nothing is reserved for ${unpaid.child}`;
  const alone = (run.children ?? []).find(
    ({ child }) =>
      !run.turn?.calls.some((call) => call.stage === 'delegated' && call.child === child),
  );
  return alone && `no call waits for ${alone.child}`;
}

/** No more than the tree may have at once, and none in a run that may have none. */
function childrenAreBounded(_before: Run, { run }: Step): string | undefined {
  const { children = [], frozen } = run;
  const most =
    frozen?.treeLimits?.atOnce ?? (frozen?.agents === undefined ? 0 : DEFAULT_TREE_LIMITS.atOnce);
  return children.length > most
    ? `${children.length} sub-agents are open, the limit is ${most}`
    : undefined;
}

function idsAreNew(before: Run, step: Step): string | undefined {
  const ids = step.effects.flatMap((effect) => ('id' in effect ? [effect.id] : []));
  const again = ids.find((id, index) => ids.indexOf(id) !== index || id in before.inflight);
  return again === undefined ? undefined : `${again} is not new`;
}

function batchesAreBounded(_before: Run, step: Step): string | undefined {
  const carriers = started(step).filter((effect) => effect.input.events.length > 0);
  if (carriers.length > 1) return 'two effects carry events';
  for (const { id, input } of carriers) {
    const bytes = JSON.stringify(input.events).length;
    const tooLarge = input.events.length > 1 && bytes > BATCH_BYTES_MAX + EVENTS_PER_BATCH;
    if (tooLarge || input.events.length > EVENTS_PER_BATCH) return `${id} carries ${bytes} bytes`;
    if (step.run.outbox.carrier !== id) return `${id} carries events and is not the carrier`;
  }
  return undefined;
}

function outboxHasNoGap(_before: Run, step: Step): string | undefined {
  const { events, nextSeq } = step.run.outbox;
  const first = nextSeq - events.length;
  const wrong = events.find((event, index) => event.stamp.seq !== first + index);
  return wrong === undefined ? undefined : `event ${wrong.stamp.seq} is out of order in the outbox`;
}

/** A run that only waits has handed its events over: whoever it waits for learns of it from them. */
function everythingIsTold(_before: Run, { run }: Step): string | undefined {
  const { outbox, segment } = run;
  const waits = isOpen(run) && run.final === undefined && !segment.full;
  return waits && outbox.events.length > 0 && !flying(run, [...WORK, 'flush'])
    ? `the run waits and ${outbox.events.length} events are on their way to nobody`
    : undefined;
}

function timeAddsUp(_before: Run, step: Step): string | undefined {
  const { now, clock } = step.run;
  const counted = clock.activeMs + clock.waitingMs;
  return counted === now - clock.startedAt
    ? undefined
    : `${counted} ms are counted, ${now - clock.startedAt} have passed`;
}

/** A run at rest waits for something that it has started, else nothing would ever wake it. */
function somethingIsAwaited(_before: Run, step: Step): string | undefined {
  const { run } = step;
  return run.final === undefined && Object.keys(run.inflight).length === 0
    ? 'the run rests and nothing is in flight'
    : undefined;
}
