/** What events of a run are called on its timeline. Pure. */
import type { RunEvent } from '../data/api-types.js';
import { cost } from '../parts/format.js';

export type Tone = 'model' | 'tool' | 'wait' | 'trouble' | 'note' | 'end';
export type Note = readonly [tone: Tone, title: string, detail?: string | undefined];

/** Of events that are a step by themselves; undefined: of no interest to people. */
export function noteOf(event: RunEvent): Note | undefined {
  switch (event.type) {
    case 'session_init':
      return ['note', 'The run begins'];
    case 'retry':
      return [
        'trouble',
        'The model is asked again',
        `attempt ${event.attempt}, after ${event.class}`,
      ];
    case 'model_error':
      return ['trouble', 'The model failed', event.class];
    case 'transition':
      return event.reason === 'next_turn' ? undefined : ['note', event.reason.replaceAll('_', ' ')];
    case 'tool_reconciled':
      return [
        'trouble',
        `Looked into what became of ${event.tool}`,
        event.finding.replaceAll('_', ' '),
      ];
    case 'user_message':
      return event.from === undefined
        ? ['note', 'A message of the user']
        : ['note', 'A letter of another agent', event.from.agent];
    case 'handoff':
      if (event.started !== undefined)
        return ['note', 'Another run goes on', `${event.to}: ${event.started.runId}`];
      return event.run === undefined
        ? undefined
        : ['note', 'Another agent goes on', `${event.run.from} → ${event.to}`];
    case 'compact_boundary': {
      const tokens = `${event.preTokens} → ${event.postTokens} tokens`;
      return ['note', 'The conversation was summarised', tokens];
    }
    case 'warning':
      return ['trouble', 'A warning', event.code];
    case 'interruption':
      return ['trouble', 'Somebody stopped it'];
    case 'approval_escalated':
      return ['note', 'Others may decide as well', event.roles.join(', ')];
    case 'decision_recorded':
      return ['note', 'A person has decided', `${event.decision}: ${event.by}`];
    case 'permission':
      return event.decision === 'deny'
        ? ['trouble', `${event.tool} is not allowed`, event.rule]
        : undefined;
    case 'stop':
      return ['end', event.reason === 'completed' ? 'Completed' : 'Stopped', event.reason];
    default:
      return undefined;
  }
}

type QuestionEvent = Extract<RunEvent, { readonly type: 'approval_requested' | 'input_request' }>;

export function waitTitle({ kind, tool }: QuestionEvent): string {
  switch (kind) {
    case 'approval':
      return `Waits for approval of ${tool ?? 'an action'}`;
    case 'outcome':
      return `Waits to be told what became of ${tool ?? 'an action'}`;
    case 'budget':
      return 'Waits for more budget';
    case 'user_message':
      return 'Waits for its user';
    default:
      return 'Waits for an answer';
  }
}

/** The run tells its money in millionths. */
export function warningText({ code, message }: Extract<RunEvent, { type: 'warning' }>): string {
  if (code !== 'billed_above_bound') return message;
  return message.replace(/\d+(?: micro-USD)?/g, (amount) => cost(parseInt(amount, 10)));
}
