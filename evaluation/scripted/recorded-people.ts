/** What people decided in a recorded run, by the action that they were asked about: its kind, its tool, its arguments. */
import type { AskView } from '../../core/state/ask-view.js';
import type { RunEvent } from '../../core/state/event.js';
import type { Action, Moment } from '../fixture.js';

type Asked = Extract<RunEvent, { readonly type: 'approval_requested' | 'input_request' }>;

export class RecordedPeople {
  /** By action: one list of answers for each time that it was asked about. */
  private readonly answers = new Map<string, (readonly Action[])[]>();

  /** `events` and `during`: of the recorded run, and of the case that was made of it. */
  constructor(events: readonly RunEvent[], during: readonly Moment[]) {
    const given = new Set<string>();
    for (const ask of events) {
      if (!isQuestion(ask) || ask.callId === undefined || given.has(ask.callId)) continue;
      given.add(ask.callId);
      const actions = during.flatMap((moment) =>
        moment.actions.filter((action) => isAbout(action, ask.callId!)),
      );
      if (actions.length === 0) continue;
      const key = keyOf(ask);
      this.answers.set(key, [...(this.answers.get(key) ?? []), actions]);
    }
  }

  /** Each is given once, for the call that is asked about now; empty: nobody has decided that. */
  answersTo(ask: Asked): readonly Action[] {
    const { callId } = ask;
    if (callId === undefined) return [];
    const actions = this.answers.get(keyOf(ask))?.shift() ?? [];
    return actions.map((action) => ({ ...action, call: callId }) as Action);
  }
}

function isQuestion(event: RunEvent): event is Asked {
  return event.type === 'approval_requested' || event.type === 'input_request';
}

function keyOf({ kind, tool = '', argsHash }: AskView): string {
  return `${kind} ${tool} ${argsHash}`;
}

/** Decisions that somebody took on something else, and messages, are not among them. */
function isAbout(action: Action, callId: string): boolean {
  switch (action.kind) {
    case 'resolveApproval':
      return action.call === callId && action.argsHashOf === undefined;
    case 'provideInput':
      return action.call === callId;
    default:
      return false;
  }
}
