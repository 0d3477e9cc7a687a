/**
 * A real model in a case: it answers in place of the script, tools and people answer from the record. What was never
 * recorded is refused or ends the run, and is told in any case.
 * Invariant: nothing is made up; no tool's code runs.
 */
import type { ModelRoute } from '../../core/state/model.js';
import type { RunEvent } from '../../core/state/event.js';
import type { Json } from '../../core/json/json.js';
import type { Provider } from '../../providers/provider.js';
import type { Action } from '../fixture.js';
import { RealTime } from '../real-time.js';
import type { RecordedPeople } from './recorded-people.js';
import type { RecordedTasks } from './recorded-tasks.js';

/** What the run asked and nobody had recorded. */
export type Unmatched =
  | { readonly kind: 'call'; readonly tool: string; readonly input: Json }
  | { readonly kind: 'question'; readonly tool?: string; readonly about: string };

export interface LiveModel {
  readonly routes: readonly ModelRoute[];
  /** By `ModelRoute.provider`. */
  readonly providers: ReadonlyMap<string, Provider>;
  /** So many requests of the run are answered by the script first. */
  readonly scriptedCalls: number;
  readonly people: RecordedPeople;
  /** Tasks that were given to other runs; each of those says what it said then. */
  readonly tasks: RecordedTasks;
  /** `refuse`: the model is told that there is no answer, and goes on; `stop`: the run ends there. */
  readonly unmatched: 'refuse' | 'stop';
}

const UNMATCHED_MAX = 100;
const CANCEL: Action = { kind: 'cancel' };

/** One run of a live model. */
export class LivePlay {
  readonly routes: readonly ModelRoute[];
  /** In order, the first so many. */
  readonly unmatched: Unmatched[] = [];
  private readonly time = new RealTime();
  private say: (action: Action) => void = () => undefined;

  constructor(private readonly model: LiveModel) {
    this.routes = model.routes;
  }

  /** `say` reaches the run that is played. */
  attach(say: (action: Action) => void): void {
    this.say = say;
  }

  /** `scripted` answers the first requests of the run, and stands for every vendor that is not among those of the model. */
  providers(
    base: ReadonlyMap<string, Provider>,
    scripted: Provider,
  ): ReadonlyMap<string, Provider> {
    const { providers, scriptedCalls } = this.model;
    const live = [...providers].map(([name, provider]): [string, Provider] => [
      name,
      {
        ...provider,
        name,
        complete: (request, progress) => {
          const { purpose, call = 1 } = request.metadata ?? {};
          const isScripted = purpose === undefined && call <= scriptedCalls;
          return isScripted
            ? scripted.complete(request, progress)
            : this.time.during(() => provider.complete(request, progress));
        },
      },
    ]);
    return new Map([...base, ...live]);
  }

  /** Virtual time stands still until a request that is under way has its answer. */
  readonly outside = (): Promise<unknown> | undefined => this.time.current();

  /** A tool was asked something that it never answered. */
  callUnmatched(tool: string, input: Json): void {
    this.note({ kind: 'call', tool, input });
    if (this.model.unmatched === 'stop') this.say(CANCEL);
  }

  /** People answer what they were asked before, about the same action. */
  hear(event: RunEvent): void {
    if (event.type === 'model_response') return this.refuseNewTasks(event.calls);
    if (event.type !== 'approval_requested' && event.type !== 'input_request') return;
    // The user's next message is a moment of the case.
    if (event.kind === 'user_message') return;
    const actions = this.model.people.answersTo(event);
    for (const action of actions) this.say(action);
    if (actions.length > 0) return;
    this.note({
      kind: 'question',
      ...(event.tool !== undefined && { tool: event.tool }),
      about: event.kind,
    });
    const isRefusable = event.type === 'approval_requested' && event.callId !== undefined;
    if (this.model.unmatched === 'stop' || !isRefusable) return this.say(CANCEL);
    this.say({
      kind: 'resolveApproval',
      call: event.callId,
      decision: 'reject',
      by: 'record',
      roles: event.roles,
      reason: 'The record has no decision on this action.',
    });
  }

  /** Another run would answer a task that it was never given; whether to refuse that or to stop, it stops. */
  private refuseNewTasks(calls: readonly { readonly tool: string; readonly args: Json }[]): void {
    const unknown = calls.filter(({ tool, args }) => this.model.tasks.isNew(tool, args));
    for (const { tool, args } of unknown) this.note({ kind: 'call', tool, input: args });
    if (unknown.length > 0) this.say(CANCEL);
  }

  private note(one: Unmatched): void {
    if (this.unmatched.length < UNMATCHED_MAX) this.unmatched.push(one);
  }
}
