/**
 * `receive(run, input)`: records a fact.
 * Invariants:
 *  F1 Total: an unknown or late input becomes a warning, never an exception.
 *  F2 Decides nothing: what a fact leads to is a rule's business.
 *  F3 Inputs are taken in the order of their arrival.
 */
import { heardModes, WANTED_MODES_MAX } from '../permission/modes-above.js';
import type { PermissionMode } from '../state/permission-mode.js';
import { recordAnswer } from '../ask/answer.js';
import { record } from '../ask/decide.js';
import { recordWaiting } from '../ask/keys-told.js';
import { tellRefusal } from '../ask/told.js';
import { heardOfTree } from '../call/child-end.js';
import { childTimer } from '../call/child-facts.js';
import { endedInTime, inRow } from '../call/quick.js';
import { ownValue } from '../json/json.js';
import type { InFlight } from '../state/carrier.js';
import type { Failure } from '../state/failure.js';
import type { EffectInput, Input, OutsideInput } from '../state/input.js';
import { UNPROCESSED_MAX, isOpen, type OpenRun, type Run } from '../state/run.js';
import type { Ruling } from '../step/advance.js';
import { follows } from '../step/changes.js';
import { creditWork, elapse } from '../step/clock.js';
import { finish } from '../step/inflight.js';
import { replaceAsk, withVerdict } from '../step/open-work.js';
import { acked, warn } from '../step/outbox.js';
import { metStore } from '../step/own-store.js';
import { withModelChoice } from '../step/route.js';
import { mailDue } from '../turn/mail.js';
import { opened } from './arrival.js';
import { otherRunStarted } from './handed-run.js';
import { handoffFailed } from './handoff.js';
import { decideMode } from './model-and-mode.js';
import { heedClose } from './interrupt.js';
import { isOpenedElsewhere, opensElsewhere } from './open-within.js';
import { isStoppedUnopened } from './opening.js';
import { ENDS } from './outcomes.js';
import { queued } from './user-message.js';

export function receive(run: Run, input: Input): Run {
  const now = elapse(run.quick?.row === undefined ? run : inRow(run, input), input.at);
  if (input.type === 'segment_full') {
    return { ...now, segment: { ...now.segment, full: true } };
  }
  return 'id' in input && input.type !== 'user_message'
    ? ofEffect(now, input)
    : fromOutside(now, input as OutsideInput);
}

function ofEffect(run: Run, input: EffectInput): Run {
  const entry = ownValue(run.inflight, input.id);
  if (entry === undefined) {
    return warn(run, 'late_input', `${input.type} of ${input.id}, which is not in flight`);
  }
  const workedMs = workOf(input);
  const worked = creditWork(finish(run, input.id), entry, workedMs);
  const triesQuickly = run.frozen?.tools.some(({ quick }) => quick);
  const ended = triesQuickly ? endedInTime(worked, entry, workedMs) : worked;
  const heard = 'output' in input ? acked(ended, input.output.eventsUpTo) : ended;
  if (input.type === 'timer_fired') return isOpen(heard) ? timedOut(heard, input.id) : heard;
  if (isOpenedElsewhere(heard, entry, input)) return opensElsewhere(heard);
  if (input.type === 'run_opened') return recordWaiting(opened(heard, input.output));
  if (entry.kind === 'open_run' && input.type === 'effect_failed')
    return notOpened(heard, input.failure);
  if (!isOpen(heard)) return warn(heard, 'early_input', `${input.type} before the run was opened`);
  if (entry.kind === 'start_child') {
    // Where starting it failed, its row and Temporal say whether it is there.
    const existed = input.type === 'child_started' ? input.existed === true : true;
    return otherRunStarted(heard, input.id, existed);
  }
  if (!endsWhileOpen(entry.kind) || input.type === 'child_started') return heard;
  const end = ENDS[entry.kind];
  if (input.type === 'effect_failed') return end.failed(heard, input.id, input.failure);
  // The kind in flight and the type of its outcome are of one row (ACTIVITIES).
  const { store } = input.output;
  const met = store === undefined ? heard : metStore(heard, store);
  return end.succeeded(met, input.id, input.output as never);
}

function endsWhileOpen(kind: InFlight['kind']): kind is keyof typeof ENDS {
  return ownValue<unknown>(ENDS, kind) !== undefined;
}

/** The first segment ends with it (opening.ts); a later one lacks only the archive of the one before. */
function notOpened(run: Run, failure: Failure): Run {
  if (!isOpen(run)) return { ...run, notOpened: failure };
  const refused = handoffFailed(run, failure);
  if (refused !== undefined) return refused;
  const warned = warn(run, 'segment_not_archived', failure.message);
  return { ...warned, segment: { ...run.segment, opened: true } };
}

/** An activity that says nothing of its work did none: a cancelled one that no worker had, for instance. */
function workOf(input: EffectInput): number {
  if ('output' in input) return input.output.workedMs ?? 0;
  return input.type === 'effect_failed' ? (input.failure.workedMs ?? 0) : 0;
}

function timedOut(was: OpenRun, timer: string): Run {
  const run =
    was.children === undefined && was.childGrace === undefined ? was : childTimer(was, timer);
  const escalating = run.asks.find((one) => one.escalation?.timer === timer);
  if (escalating?.escalation !== undefined) {
    const escalation = { ...escalating.escalation, state: 'due' } as const;
    return replaceAsk(run, { ...escalating, escalation });
  }
  const ask = run.asks.find((one) => one.timer === timer);
  return ask === undefined || ask.outcome !== 'pending'
    ? run
    : replaceAsk(run, { ...ask, elapsed: true });
}

function fromOutside(run: Run, input: OutsideInput): Run {
  // A run that stops waits for the outcomes of its sub-agents.
  if ('child' in input || input.type === 'tell_end') return heardOfTree(run, input);
  const ends =
    run.stopping !== undefined || (run.notOpened !== undefined && isStoppedUnopened(run));
  if (ends && input.type !== 'cancel_requested') return tooLate(run, input);
  switch (input.type) {
    case 'decision': {
      const { decision, ticket } = input;
      const recorded = record(run, decision, { ticket });
      const { verdict } = recorded;
      return verdict === undefined ? recorded.run : withVerdict(recorded.run, ticket, verdict);
    }
    case 'input_provided':
      return recordAnswer(run, input);
    case 'user_message':
      return queued(run, input);
    case 'mail':
      return mailDue(run);
    case 'interrupt':
      return { ...run, interrupt: 'interrupt' };
    case 'cancel_requested':
      return { ...run, interrupt: run.interrupt ?? 'cancel' };
    case 'close':
      return ruled({ ...run, closeAsked: true }, heedClose);
    case 'set_model':
      return withModelChoice(run, { wanted: input.model });
    case 'set_max_thinking_tokens':
      return withModelChoice(run, { maxThinkingTokens: input.tokens });
    case 'set_permission_mode':
      return wantMode(run, input.mode);
    case 'modes_above':
      return heardModes(run, input.modes);
    case 'input_rejected':
      return warn(run, `rejected_${input.message}`, input.reason);
  }
}

/** Each is decided on, so that whoever named one that is refused hears of it. */
function wantMode(run: Run, mode: PermissionMode): Run {
  const { wantedModes = [] } = run;
  return wantedModes.length < WANTED_MODES_MAX
    ? ruled({ ...run, wantedModes: [...wantedModes, mode] }, decideMode)
    : warn(run, 'permission_mode_refused', 'too many modes are named at once');
}

/** Under rules without `ruledInputs` the rule was applied as soon as the fact was there. */
function ruled(run: Run, apply: (run: Run) => Ruling<Run>): Run {
  const ruling = follows(run, 'ruledInputs') ? undefined : apply(run);
  return ruling === undefined || ruling === 'hold' ? run : ruling.run;
}

/** Closing has begun: the input is named in the result, its sender is told (G98). */
function tooLate(run: Run, input: OutsideInput): Run {
  const unprocessed = [...run.unprocessed, input.type].slice(0, UNPROCESSED_MAX);
  const next = { ...run, unprocessed };
  if (input.type !== 'decision') return next;
  const refusal = { reason: 'run_closing', message: 'the run is ending' } as const;
  const told = follows(run, 'toldDecisions') ? tellRefusal(next, input.decision, refusal) : next;
  return withVerdict(told, input.ticket, { accepted: false, ...refusal });
}
