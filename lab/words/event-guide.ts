/** Each type of event with its meaning and when it is written, for docs/reference/events.md. A type without a line does not compile. */
import type { EventType } from '../../core/state/event.js';

export interface EventMeaning {
  readonly says: string;
  /** When it is written. */
  readonly when: string;
  /** Meanings of fields whose declaration has none, by name. */
  readonly fields?: { readonly [field: string]: string };
}

interface EventGroup {
  readonly title: string;
  readonly types: readonly EventType[];
}

/** In the order of the page; each type stands in one of them. */
export const EVENT_GROUPS: readonly EventGroup[] = [
  { title: 'Beginning and end', types: ['session_init', 'stop', 'run_result'] },
  {
    title: 'The model',
    types: [
      'user_message',
      'model_response',
      'retry',
      'model_error',
      'transition',
      'compact_boundary',
      'tombstone',
    ],
  },
  {
    title: 'Calls of tools',
    types: [
      'validation',
      'permission',
      'tool_started',
      'tool_note',
      'tool_finished',
      'tool_reconciled',
      'tool_results_message',
      'hook',
    ],
  },
  {
    title: 'People',
    types: [
      'approval_requested',
      'approval_resolved',
      'decision_recorded',
      'approval_withdrawn',
      'approval_escalated',
      'input_request',
      'input_provided',
      'interruption',
      'warning',
    ],
  },
  { title: 'Other agents', types: ['handoff', 'supervision'] },
  {
    title: 'Goals',
    types: [
      'goal_started',
      'cycle_started',
      'cycle_ended',
      'check_finished',
      'plan_changed',
      'progress_noted',
      'goal_review',
      'checkpoint_saved',
      'goal_sleeping',
      'goal_woken',
      'goal_steered',
      'goal_result',
    ],
  },
];

/** Meanings of fields by name, where the declaration has none and the type's own line neither. */
export const MEANINGS_BY_NAME: { readonly [field: string]: string } = {
  agent: 'Name of the agent.',
  args: 'Arguments, as the tool gets them.',
  argsHash: 'What a decision must echo.',
  askId: 'Id of the question.',
  attachments: 'Files that go with it.',
  because: 'The reason, in words.',
  by: 'Names of the people; of a single text, one of them.',
  call: 'Number of the model call, from 1.',
  callId: 'Id of the call, as the model gave it.',
  caller: 'The starter, as the start names them.',
  class: 'Code of the error.',
  code: 'Code of the result.',
  costMicroUsd: 'Micro-USD.',
  decision: 'The decision.',
  detail: 'More on the reason, as a code.',
  durationMs: 'ms.',
  key: 'Idempotency key of the call.',
  message: 'In words.',
  messageId: 'Id of the message.',
  model: 'Name of the model.',
  n: 'Number, from 1.',
  outcome: 'How it ended.',
  reason: 'The reason.',
  requireProof: 'People who decide must prove who they are.',
  roles: 'Roles that may decide.',
  runId: 'Id of the run.',
  text: 'The text, or where it lies in the store.',
  tool: 'Name of the tool.',
  usage: 'Tokens.',
  versions: 'Versions of code, prompt, tools, policy and prices.',
};

export const EVENT_GUIDE: { readonly [type in EventType]: EventMeaning } = {
  session_init: {
    says: 'The run is open: this is its agent, its task and what it may use.',
    when: 'The first event of every run, after the SessionStart hooks.',
    fields: {
      taskId: 'Id of the task; keys of calls derive from it.',
      goal: 'The task, in words.',
      tools: 'Names of the tools that the model is offered.',
      sessionId: 'The session that the run writes to.',
      requireProof: 'People who decide must prove who they are.',
      resumed: 'The session that the run goes on with.',
      route:
        'The model that the run begins with, with its window and prices; absent under rules before 22.',
    },
  },
  stop: {
    says: 'The run or goal has decided to end, and why.',
    when: 'Exactly once, when nothing more is begun.',
    fields: {
      reason: 'The stop reason.',
      phase: 'Where the run was when it stopped.',
    },
  },
  run_result: {
    says: 'The result that callers get.',
    when: 'The last event of every run.',
    fields: { result: 'The whole result.' },
  },
  user_message: {
    says: 'A message of the user, or a letter of another run, is part of the conversation.',
    when: 'When the next request takes the message up.',
    fields: {
      clientMessageId:
        'The id that the sender has given; absent where there is none, and under rules before 19.',
    },
  },
  model_response: {
    says: 'The model has replied.',
    when: 'When a reply has come, before its calls are looked at.',
    fields: {
      calls: 'The calls that the model wants, in its order.',
      stopReason: 'Why the vendor ended the reply.',
      partial: 'The reply was broken off; only a part is there.',
    },
  },
  retry: {
    says: 'A failed attempt of a model call was made again.',
    when: 'With the outcome of the call, once for each attempt from the second on.',
  },
  model_error: {
    says: 'A model call has failed for good.',
    when: 'After the last attempt.',
    fields: { attempts: 'Attempts that were made.' },
  },
  transition: {
    says: 'The run goes on to another request, for this reason.',
    when: 'Between two requests; with `continued_as_new` where a new segment begins.',
    fields: { reason: 'Why another request is made.' },
  },
  compact_boundary: {
    says: 'A summary has taken the place of the conversation before this point.',
    when: 'When the summary is stored.',
    fields: {
      trigger:
        '`auto`: the context was nearly full; `reactive`: the vendor refused its length, or a reply was cut off.',
      preTokens: 'Estimated tokens before.',
      postTokens: 'Estimated tokens after.',
    },
  },
  tombstone: {
    says: 'A message is no longer part of the conversation; readers take back what they showed of it.',
    when: 'When a torn or refused reply is dropped and the request is made anew.',
    fields: { targetMessageId: 'Id of the message that is dropped.' },
  },
  validation: {
    says: 'A call or an answer was looked at: it is to be executed, is final, is denied, or a person is needed.',
    when: 'With a call that is denied or decided on, and at each completion gate that has a say.',
  },
  permission: {
    says: 'A rule has decided whether a call may run.',
    when: 'Before a call is handed to its executor or to people; by the rule `identity` also when a call that was handed over comes back.',
  },
  tool_started: {
    says: 'A call was handed to its executor.',
    when: 'Before the work begins; an effect is claimed in the ledger after it.',
  },
  tool_note: {
    says: 'A note of a tool on its progress.',
    when: 'With the end of the call, before `tool_finished`.',
  },
  tool_finished: {
    says: 'A call has its one result.',
    when: 'Once for each call of a reply, in every case: also for calls that never began.',
    fields: {
      status: 'How the call ended.',
      content: 'The result, as the model reads it.',
      attachments: 'Files that the tool returned.',
      costMicroUsd: 'Cost of its executions, as the tool said or as was reserved; absent: nothing.',
      synthetic: 'The runtime wrote the result, not the tool.',
      started: 'The call was handed to an executor.',
      attempts: 'Attempts that were made.',
    },
  },
  tool_reconciled: {
    says: 'The fate of an attempt that nobody heard of was looked for, and this was found.',
    when: 'Before the result of such a call.',
    fields: {
      attempt: 'Number of the attempt, from 1.',
      finding: 'The outcome of the search.',
      steps: 'Steps of the search, in order.',
    },
  },
  tool_results_message: {
    says: 'The results of a reply stand in the conversation as one message.',
    when: 'When every call of the reply has its result.',
    fields: { callIds: 'The calls, in the order of the reply.' },
  },
  hook: {
    says: 'A hook has run.',
    when: 'At the end of each run of a hook, except those of SessionStart and SessionEnd: the result names them (`hooks`).',
    fields: {
      name: 'The point at which the hook runs.',
      hook: 'Name of the hook.',
      outcome: 'The word of the hook.',
    },
  },
  approval_requested: {
    says: 'A person is asked whether a call, or a step of a goal, may run.',
    when: 'When the question is open; with `approvalMode: "stop"` before the run ends.',
  },
  approval_resolved: {
    says: 'Such a question has its answer, or has expired.',
    when: 'When enough people have decided, or at the expiry.',
    fields: {
      corrected: 'The action that is wanted instead.',
      grant: 'Later calls that the approval allows as well.',
    },
  },
  decision_recorded: {
    says: 'A decision that counts and that its sender could not write into the audit trail.',
    when: 'When the run hears of the decision; the trail is written from this event.',
    fields: { facts: 'The facts that were signed.' },
  },
  approval_withdrawn: {
    says: 'A question is asked no more.',
    when: 'When what it was about has changed or the run ends.',
  },
  approval_escalated: {
    says: 'These roles may decide as well from now on, because nobody has decided yet.',
    when: 'When the time of the escalation has come.',
  },
  input_request: {
    says: 'A person is asked for something else than an approval: what became of a call, more of a budget, an answer, the next message.',
    when: 'When the question is open.',
  },
  input_provided: {
    says: 'The answer has come, or the wait is over.',
    when: 'When the run takes the answer up, or at the expiry.',
  },
  interruption: {
    says: 'Somebody has interrupted or cancelled the run.',
    when: 'When the run hears of it and ends or goes on because of it, not where a limit has ended the run already.',
    fields: { by: 'Which of the two it is.' },
  },
  warning: {
    says: 'Something happened that people should know and that stops nothing.',
    when: 'When it is noticed; the codes are [below](#warnings).',
    fields: { code: 'Which warning it is.' },
  },
  handoff: {
    says: 'Another agent has the task.',
    when: 'When the handoff is done.',
    fields: { to: 'Name of the agent that goes on.', by: 'Who has handed over.' },
  },
  supervision: {
    says: 'A supervisor has looked at the run.',
    when: 'At the end of each look.',
    fields: { text: 'The words to the run, or the question to a person.' },
  },
  goal_started: {
    says: 'The goal is open: this is its objective, with its terms.',
    when: 'The first event of every goal.',
    fields: {
      objective: 'The objective, in words.',
      maxCostMicroUsd: 'Most that the goal may cost, micro-USD.',
      pace: 'When cycles begin.',
    },
  },
  cycle_started: {
    says: 'A cycle begins as a run of its own.',
    when: 'When its money is reserved and its brief is stored.',
    fields: {
      budget: 'The part of the budget that is reserved for the cycle.',
      briefTokens: 'Estimated tokens of the brief.',
    },
  },
  cycle_ended: {
    says: 'A cycle has ended, with what it brought forward.',
    when: 'When the goal hears of the end, and the checks behind the cycle have run.',
    fields: {
      stopReason: 'How the run of the cycle ended.',
      progress: 'All that counts as progress.',
      unconfirmed: 'The end could not be confirmed: the whole slice counts as spent.',
    },
  },
  check_finished: {
    says: 'A check of the goal has run.',
    when: 'At the baseline, and behind every cycle.',
    fields: {
      name: 'Name of the check.',
      known: 'The check gave a result.',
      value: 'The number that was measured.',
      best: 'The best so far, this one among them.',
    },
  },
  plan_changed: {
    says: 'The goal has another plan.',
    when: 'When a cycle, a reviewer or a person has changed it.',
    fields: {
      by: 'Who has changed it.',
      revision: 'Number of the plan, from 1.',
      steps: 'Numbers of steps.',
    },
  },
  progress_noted: {
    says: 'A cycle has brought the goal forward.',
    when: 'Behind `cycle_ended`, when its list of progress is not empty.',
    fields: { progress: 'All that counts as progress.' },
  },
  goal_review: {
    says: 'The goal has been reviewed.',
    when: 'Behind a cycle (`reviewEvery`), and when a person asks for it.',
    fields: {
      cycle: 'The cycle behind which it stands.',
      answers: 'The six answers.',
      decision: 'How the goal goes on.',
    },
  },
  checkpoint_saved: {
    says: 'A state was stored that another goal can go on from.',
    when: 'At the end of each pass.',
    fields: { id: 'Id of the checkpoint.' },
  },
  goal_sleeping: {
    says: 'The goal sleeps.',
    when: 'When the next cycle is not due, or a person holds the goal.',
  },
  goal_woken: {
    says: 'The sleep is over.',
    when: 'At its time, or at the word of a person.',
    fields: { by: 'Who or what has woken it.', sleptMs: 'How long the sleep was, ms.' },
  },
  goal_steered: {
    says: 'A person has said something to the goal, and it counts.',
    when: 'When the goal takes the message up.',
    fields: {
      by: 'Who has said it.',
      proven: 'The message has a valid signature.',
      control:
        'The word, where it is another one than steer: pause, resume, setBudget, setPlan, setPace, review.',
      value: 'The value of that word.',
    },
  },
  goal_result: {
    says: 'The result of the goal.',
    when: 'The last event of every goal.',
    fields: { result: 'The whole result.' },
  },
};
