/**
 * The loop of every workflow here: it receives facts, lets the core decide, and performs.
 * Invariants: W1, W2 and W4 of agent-run.ts.
 */
import {
  allHandlersFinished,
  CancellationScope,
  condition,
  workflowInfo,
} from '@temporalio/workflow';
import type { Carrier } from '../core/state/carrier.js';
import type { Effect } from '../core/state/effect.js';
import type { ChildWord, EffectInput } from '../core/state/input.js';
import { createInbox, type Inbox } from './inbox.js';
import { createPerformer } from './perform.js';
import type { Shown } from './showing.js';

interface Occurred {
  readonly type: string;
  readonly at: number;
}

/** With what Updates wait for. */
type State = Carrier & { readonly verdicts: readonly unknown[] };

/** What decides, and what of it the shell has to know. */
export interface Machine<S extends State, F, I extends Occurred> {
  advance(state: S): { readonly run: S; readonly effects: readonly Effect[] };
  receive(state: S, input: I): S;
  /** Registers the handlers of its messages. Returns what hands verdicts to the Updates that wait for them. */
  listen(inbox: Inbox<I>, current: () => S): (state: S) => S;
  finalOf(state: S): F | undefined;
  readonly shown: Shown;
}

export interface Ended<S, F> {
  readonly final: F;
  /** With all that arrived until nobody waited any more. */
  readonly state: S;
}

type AnyInput =
  | Extract<EffectInput | ChildWord, Occurred>
  | { readonly type: 'cancel_requested' | 'segment_full'; readonly at: number };

export async function decideUntilFinal<S extends State, F, I extends Occurred>(
  first: S,
  machine: Machine<S, F, I>,
): Promise<Ended<S, F>> {
  const { advance, receive, finalOf, shown } = machine;
  let state = first;
  const inbox = createInbox<I>();
  // Every machine takes what the shell itself has to tell.
  const own = inbox as unknown as Inbox<AnyInput>;
  const answer = machine.listen(inbox, () => state);
  CancellationScope.current().cancelRequested.catch(() =>
    own.put({ type: 'cancel_requested', at: Date.now() }),
  );
  const final = await CancellationScope.nonCancellable(async () => {
    const performer = createPerformer(own, workflowInfo().taskQueue);
    const decide = (): F | undefined => {
      const step = advance(state);
      state = step.run;
      for (const effect of step.effects) performer.perform(effect, shown);
      return finalOf(state);
    };
    // Behind what was decided, whatever interceptors do before they let an effect begin.
    const tell = (): void => void (state = answer(state));
    const decideAgain = (): F | undefined => {
      if (workflowInfo().continueAsNewSuggested && !state.segment.full) {
        own.put({ type: 'segment_full', at: Date.now() });
      }
      state = inbox.takeAll().reduce(receive, state);
      return decide();
    };
    for (const effect of timersOf(state)) performer.perform(effect, shown);
    const ended = decide();
    tell();
    const isAwaited = (): boolean => state.verdicts.length > 0;
    return ended ?? inbox.heed({ take: decideAgain, isAwaited, tell });
  });
  return { final, state: await drain(state) };

  /** Takes what arrived meanwhile, until nobody waits for an answer (W4). */
  async function drain(last: S): Promise<S> {
    let drained = last;
    for (;;) {
      drained = answer(inbox.takeAll().reduce(receive, drained));
      if (allHandlersFinished()) return drained;
      await CancellationScope.nonCancellable(() =>
        condition(() => !inbox.isEmpty() || allHandlersFinished()),
      );
    }
  }
}

/** Timers do not survive continue-as-new; they are armed again from their deadlines. */
function timersOf({ inflight }: Carrier) {
  return Object.entries(inflight).flatMap(([id, { kind, at }]) =>
    kind === 'timer' && at !== undefined
      ? [{ kind: 'timer' as const, id, at, summary: 'deadline' }]
      : [],
  );
}
