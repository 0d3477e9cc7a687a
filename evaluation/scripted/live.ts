/**
 * A real model in a case: it answers the root of the tree in place of the script, every other run says what it said, tools and
 * people answer from the record of the run that asks. What was never recorded is refused or ends the run, and is told in any case.
 * Invariant: nothing is made up; no tool's code runs.
 */
import { HANDOFF_TOOL } from '../../core/state/handoff.js';
import type { ModelRoute } from '../../core/state/model.js';
import type { RunEvent } from '../../core/state/event.js';
import type { Run } from '../../core/state/run.js';
import type { Json } from '../../core/json/json.js';
import { outcomeOf } from '../../core/step/open-work.js';
import type { ModelRequest, Provider } from '../../providers/provider.js';
import type { Action } from '../fixture.js';
import { RealTime } from '../real-time.js';
import { placeOfRun } from '../run-tree.js';
import type { RecordedPeople } from './recorded-people.js';
import type { Question, TreeInPlay } from './recorded-tree.js';

/** What a run asked and nobody had recorded. */
export type Unmatched = (
  | { readonly kind: 'call'; readonly tool: string; readonly input: Json }
  | { readonly kind: 'question'; readonly tool?: string; readonly about: string }
  /** A run that says what it said then has nothing more to say. */
  | { readonly kind: 'reply' }
) & {
  /** Place below the root of the run that asked: `a1:a2`; absent: the root. */
  readonly run?: string;
};

export interface LiveModel {
  readonly routes: readonly ModelRoute[];
  /** By `ModelRoute.provider`. */
  readonly providers: ReadonlyMap<string, Provider>;
  /** So many requests of the root are answered by the script first. */
  readonly scriptedCalls: number;
  readonly people: RecordedPeople;
  /** Which recorded run each run stands for; each of those that are given a task says what it said then. */
  readonly tree: TreeInPlay;
  /** `refuse`: the model is told that there is no answer, and goes on; `stop`: the run ends there. */
  readonly unmatched: 'refuse' | 'stop';
}

/** Whoever corrects a call agrees to what they made of it. */
function isDecided({ askId }: Question, { asks }: Run): boolean {
  const ask = asks.find(({ id }) => id === askId);
  return ask === undefined || outcomeOf(ask) !== 'pending';
}

type WithoutRun<T> = T extends unknown ? Omit<T, 'run'> : never;

const UNMATCHED_MAX = 100;
const CANCEL: Action = { kind: 'cancel' };

/** One run of a live model. */
export class LivePlay {
  readonly routes: readonly ModelRoute[];
  /** In order, the first so many; long texts are references until the run is over. */
  unmatched: readonly Unmatched[] = [];
  private readonly time = new RealTime();
  private say: (action: Action) => void = () => undefined;

  constructor(private readonly model: LiveModel) {
    this.routes = model.routes;
  }

  /** `say` reaches the run that is played. */
  attach(say: (action: Action) => void): void {
    this.say = say;
  }

  /** `scripted` answers what the model is not asked in earnest, and stands for every vendor that is not among those of the model. */
  providers(
    base: ReadonlyMap<string, Provider>,
    scripted: Provider,
  ): ReadonlyMap<string, Provider> {
    const live = [...this.model.providers].map(([name, provider]): [string, Provider] => [
      name,
      {
        ...provider,
        name,
        complete: (request, progress) =>
          this.isScripted(request)
            ? scripted.complete(request, progress)
            : this.time.during(() => provider.complete(request, progress)),
      },
    ]);
    return new Map([...base, ...live]);
  }

  /** A sub-agent may have the same model: it says what it said all the same. */
  private isScripted({ metadata }: Pick<ModelRequest, 'metadata'>): boolean {
    const { tree, scriptedCalls } = this.model;
    const { runId = tree.root, purpose, call = 1 } = metadata ?? {};
    return runId !== tree.root || (purpose === undefined && call <= scriptedCalls);
  }

  /** Virtual time stands still until a request that is under way has its answer. */
  readonly outside = (): Promise<unknown> | undefined => this.time.current();

  /** Where the recorded run stands whose words this one has; undefined: it was never recorded. */
  placeOf(runId: string): string | undefined {
    const recorded = this.model.tree.recordedRun(runId);
    return recorded === undefined ? undefined : placeOfRun(recorded);
  }

  /** A tool was asked something that it never answered. */
  callUnmatched(
    runId: string,
    { tool, input }: { readonly tool: string; readonly input: Json },
  ): void {
    this.note(runId, { kind: 'call', tool, input });
    if (this.model.unmatched === 'stop') this.say(CANCEL);
  }

  /** What the run would say next nobody knows; whether to refuse that or to stop, the tree stops. */
  replyUnmatched(runId: string): void {
    this.note(runId, { kind: 'reply' });
    this.say(CANCEL);
  }

  /** `run`: that emitted it, as it is now. */
  hear(event: RunEvent, run: Run): void {
    switch (event.type) {
      case 'model_response':
        return this.refuseNewTasks(run);
      case 'tool_started':
      case 'handoff':
        return this.refuseStranger(event);
      case 'approval_requested':
      case 'input_request':
        // The user's next message is a moment of the case.
        return event.kind === 'user_message' || isDecided(event, run)
          ? undefined
          : this.answer(event);
      default:
    }
  }

  /** People answer what they were asked before, by the same run about the same action. */
  private answer(question: Question): void {
    const { runId } = question.stamp;
    const { people, tree } = this.model;
    const recorded = tree.recordedRun(runId);
    const actions = recorded === undefined ? undefined : people.answersTo(question, recorded);
    if (actions !== undefined) {
      for (const action of actions) this.say(action);
      return;
    }
    const { askId, callId, kind, roles, tool, type } = question;
    this.note(runId, { kind: 'question', ...(tool !== undefined && { tool }), about: kind });
    const isRefusable = type === 'approval_requested' && callId !== undefined;
    if (this.model.unmatched === 'stop' || !isRefusable) return this.say(CANCEL);
    const place = placeOfRun(runId);
    this.say({
      kind: 'resolveApproval',
      approvalId: askId,
      call: callId,
      ...(place !== '' && { run: place }),
      decision: 'reject',
      by: 'record',
      roles,
      reason: 'The record has no decision on this action.',
    });
  }

  /** Another run would answer a task that it was never given; whether to refuse that or to stop, it stops. */
  private refuseNewTasks(run: Run): void {
    const unknown = this.model.tree.newTasks(run);
    for (const { tool, args } of unknown) this.note(run.runId, { kind: 'call', tool, input: args });
    if (unknown.length > 0) this.say(CANCEL);
  }

  /** The call was recorded, and started nobody then. */
  private refuseStranger(event: Extract<RunEvent, { type: 'tool_started' | 'handoff' }>): void {
    if (this.model.tree.strangerIn(event) === undefined) return;
    const { tool, args: input } =
      event.type === 'tool_started' ? event : { tool: HANDOFF_TOOL, args: { to: event.to } };
    this.note(event.stamp.runId, { kind: 'call', tool, input });
    this.say(CANCEL);
  }

  private note(runId: string, asked: WithoutRun<Unmatched>): void {
    if (this.unmatched.length >= UNMATCHED_MAX) return;
    const place = placeOfRun(runId);
    this.unmatched = [...this.unmatched, { ...asked, ...(place !== '' && { run: place }) }];
  }
}
