/** Each error code with its cause and what mends it, for docs/reference/errors.md. */
import type { ErrorCode } from '../../core/state/errors.js';

export interface ErrorMeaning {
  readonly cause: string;
  /** The next action. */
  readonly remedy: string;
}

interface ErrorGroup {
  readonly title: string;
  readonly codes: readonly ErrorCode[];
}

/** In the order of the page; each code stands in one of them. */
export const ERROR_GROUPS: readonly ErrorGroup[] = [
  {
    title: 'Beginning and environment',
    codes: [
      'Usage',
      'InvalidConfig',
      'ServerUnavailable',
      'PortTaken',
      'DataFolderInUse',
      'StoreUnavailable',
      'FileUnusable',
      'Internal',
    ],
  },
  {
    title: 'Agents, tools and models',
    codes: ['InvalidAgent', 'InvalidTool', 'UnknownAgent', 'UnknownModel', 'ModelKeyMissing'],
  },
  {
    title: 'Starting and reaching runs',
    codes: [
      'InvalidTask',
      'UnsupportedContent',
      'InvalidRequest',
      'RunExists',
      'RunNotFound',
      'RunNotCompleted',
      'NetworkTimeout',
      'Aborted',
      'NotServed',
      'RulesTooNew',
      'WrongStore',
      'TranscriptMissing',
      'UndecodablePayload',
    ],
  },
  {
    title: 'Decisions, sessions, goals and schedules',
    codes: [
      'AskNotFound',
      'DecisionRejected',
      'SessionNotFound',
      'SessionExists',
      'SessionBusy',
      'MessageRefused',
      'StalePlan',
      'ScheduleNotFound',
      'ScheduleExists',
    ],
  },
  {
    title: 'Model calls',
    codes: [
      'RateLimited',
      'Overloaded',
      'ServerError',
      'AuthError',
      'PromptTooLong',
      'ContentRefused',
      'BudgetExhausted',
      'MalformedReply',
    ],
  },
  {
    title: 'Calls of tools',
    codes: [
      'ToolRetryable',
      'ToolFatal',
      'ToolOutcomeUnknown',
      'ToolUnavailable',
      'MalformedResult',
      'KeyConflict',
      'GrantInvalid',
    ],
  },
  {
    title: 'Records, replays and cases',
    codes: [
      'InvalidBundle',
      'InvalidFixture',
      'HistoryMissing',
      'ReplayDiffers',
      'StepNotFound',
      'CaptureRefused',
      'ForkRefused',
      'RedactionRefused',
    ],
  },
];

export const ERROR_GUIDE: { readonly [code in ErrorCode]: ErrorMeaning } = {
  Usage: {
    cause:
      'The command line or the call cannot be meant: a name is unknown, two options exclude each other, or the client has been closed.',
    remedy: 'Compare the command with `holdfast COMMAND --help`.',
  },
  InvalidConfig: {
    cause:
      'The configuration, a variable of the environment or an option has a value that cannot be used, or the file cannot be loaded.',
    remedy: 'Correct the place that the message names. `holdfast doctor` looks at the rest.',
  },
  ServerUnavailable: {
    cause:
      'The Temporal server does not answer, refuses the caller, lacks the namespace, or no worker answered for the run.',
    remedy:
      'Start a server with `holdfast dev` or name yours; `holdfast doctor` says which of these is missing.',
  },
  PortTaken: {
    cause: 'Another program listens on the port.',
    remedy: 'End that program, or choose another port with the option that the message names.',
  },
  DataFolderInUse: {
    cause: 'Another server or demo works on the data folder.',
    remedy: 'Use that server, end its process, or choose another folder with --home.',
  },
  StoreUnavailable: {
    cause: 'The store is not there, cannot be opened, written or reached, or its disk is full.',
    remedy:
      'Name the store of your workers with HOLDFAST_STORE, and let this user write it. Runs wait and lose nothing meanwhile.',
  },
  FileUnusable: {
    cause:
      'The operating system refuses a file or folder: a full disk, a missing permission, a file system that takes no files.',
    remedy:
      'Free space or give this user the permission, or name another place with --home or --store.',
  },
  Internal: {
    cause:
      'Holdfast met a state that should not exist, or the server refused a call for a reason of its own.',
    remedy:
      'Run `holdfast doctor`. Report the message with what was done before when doctor finds nothing.',
  },
  InvalidAgent: {
    cause: 'The definition of an agent cannot be served.',
    remedy: 'Correct the field that the message names.',
  },
  InvalidTool: {
    cause: 'The definition of a tool or hook cannot be served.',
    remedy: 'Correct the field that the message names.',
  },
  UnknownAgent: {
    cause: 'No worker of the task queue serves an agent of this name.',
    remedy: 'Correct the name, or add the agent to the configuration and restart the worker.',
  },
  UnknownModel: {
    cause: 'The model has no known prices and limits.',
    remedy: 'Name a known model, or declare a route with prices in the configuration.',
  },
  ModelKeyMissing: {
    cause: 'The worker has no key for the vendor of the model.',
    remedy:
      'Set the variable that the message names where the worker runs, and restart the worker.',
  },
  InvalidTask: {
    cause:
      'A start, or another call of the client, has a value that cannot be used, or a field that there is not.',
    remedy:
      'Correct the field that the message names (`details.path`), and call again; a start takes a new run id.',
  },
  InvalidRequest: {
    cause:
      'A request has a value that its receiver does not take: the desk, the store or the vendor of a model.',
    remedy: 'Correct the value that the message names.',
  },
  RunExists: {
    cause:
      'A run of this id has ended, belongs to another tenant, or is not the fork that was wanted. An id is used once.',
    remedy: 'See the run with `holdfast show`, or start with another id or without one.',
  },
  RunNotFound: {
    cause: 'No run of this id is known here, or the run has ended and takes no messages.',
    remedy:
      'List the runs with `holdfast list`; look at address, namespace and store when the run should be there.',
  },
  RunNotCompleted: {
    cause: 'The run ended without an answer, and its caller asked for an error then.',
    remedy: 'Read the stop reason, and follow the run with `holdfast show`.',
  },
  NetworkTimeout: {
    cause: 'The wait was over before the answer came. The run goes on.',
    remedy: 'Wait again with `holdfast watch`.',
  },
  Aborted: {
    cause: 'The run or the call was cancelled or terminated before its end.',
    remedy: 'See with `holdfast show` how far the run came, and start a new one.',
  },
  NotServed: {
    cause: 'The worker lacks a tool, hook or agent that the run began with.',
    remedy: 'Start a worker that has the code; name old versions in retiredTools and retiredHooks.',
  },
  RulesTooNew: {
    cause: 'A newer release began the run than this worker is of.',
    remedy: 'Deploy a worker at least as new as the one that began the run.',
  },
  WrongStore: {
    cause: 'The worker has another store than the one that the run began with.',
    remedy: 'Give the worker the right store (HOLDFAST_STORE). The run waits.',
  },
  UnsupportedContent: {
    cause:
      'A picture, PDF or sound is of a type that is not read, is not what its type says, is too large, or the model does not read files of that type.',
    remedy:
      'Convert or shrink the file, or choose a model whose `takes` allows the type; `docs/guide/attachments.md` has the table.',
  },
  TranscriptMissing: {
    cause: 'The store lacks a message, text or file that the run refers to.',
    remedy:
      'Restore the store from a backup that is at least as new as the Temporal database. Where there is none, `holdfast cancel RUN` ends the run.',
  },
  UndecodablePayload: {
    cause: 'A payload cannot be decoded with the payload codecs of this process.',
    remedy: 'Give client and worker the codecs and keys that wrote the payload.',
  },
  AskNotFound: {
    cause: 'No question of this id is known here.',
    remedy: 'List the questions with `holdfast approvals`.',
  },
  DecisionRejected: {
    cause:
      'The run does not count the decision: a role is missing, the question is decided, has expired or has changed, or a proof is wanted.',
    remedy: 'Read the reason, and look at the question again with `holdfast approvals`.',
  },
  SessionNotFound: {
    cause: 'The store keeps no session of this id.',
    remedy: 'List the sessions with `holdfast sessions`.',
  },
  SessionExists: {
    cause: 'A session of this id is kept already.',
    remedy: 'Go on with the session by --resume, or begin one of another id.',
  },
  SessionBusy: {
    cause: 'A run of the session is still open.',
    remedy: 'Send that run a message, wait for its end, or fork the session.',
  },
  MessageRefused: {
    cause:
      'The goal does not take the message: a role is missing, a limit is passed, or the goal is closing.',
    remedy: 'Read the reason, and look at the goal with `holdfast goal show`.',
  },
  StalePlan: {
    cause: 'The plan of the goal has changed since the caller read it.',
    remedy: 'Read the plan with `holdfast goal plan`, and send the change again.',
  },
  ScheduleNotFound: {
    cause: 'No schedule of this id is known in the namespace.',
    remedy: 'List the schedules with `holdfast schedule list`.',
  },
  ScheduleExists: {
    cause: 'A schedule of this id exists already.',
    remedy: 'Choose another id, or delete the schedule first.',
  },
  RateLimited: {
    cause: 'The vendor of the model refuses more requests for now.',
    remedy:
      'Wait: the runtime tries again by itself. Ask the vendor for a higher limit when runs end with this error.',
  },
  Overloaded: {
    cause: 'The vendor of the model is overloaded.',
    remedy: 'Wait: the runtime tries again by itself. A fallbackModel takes over where one is set.',
  },
  ServerError: {
    cause: 'The vendor of the model answered with an error of its own, or broke the stream off.',
    remedy: 'Wait: the runtime tries again by itself. Start again later when the run has ended.',
  },
  AuthError: {
    cause: "The vendor refuses the worker's key, or the key may not use this model.",
    remedy: 'Correct the key in the environment of the worker, and restart the worker.',
  },
  PromptTooLong: {
    cause:
      'The conversation does not fit into the context of the model, and a summary could not make it fit.',
    remedy: 'Start a new session with a summary, or choose a model with a larger context.',
  },
  ContentRefused: {
    cause: 'The vendor refuses the content of the request.',
    remedy: 'Change the task or its sources, or use another model.',
  },
  BudgetExhausted: {
    cause: 'A budget has no room for another request.',
    remedy: 'Raise the budget that the result names, or let a person allow more (onBudget: "ask").',
  },
  MalformedReply: {
    cause: 'The reply of the model cannot be read.',
    remedy:
      'Wait: the runtime tries again by itself. Look at the endpoint and its protocol when every reply is unreadable.',
  },
  ToolRetryable: {
    cause: 'The tool failed in a way that another attempt may mend.',
    remedy: 'Look at the message of the tool; the runtime repeats what may be repeated.',
  },
  ToolFatal: {
    cause: 'The tool failed in a way that no other attempt mends.',
    remedy: 'Mend the cause that the tool names. The model is told of the failure.',
  },
  ToolOutcomeUnknown: {
    cause: 'Whether the call happened is not known.',
    remedy:
      'Answer the question with `holdfast answer ASK happened` or `not_happened`. A probe of the tool lets the runtime find out.',
  },
  ToolUnavailable: {
    cause: 'The tool, its worker or its server cannot be reached.',
    remedy: 'Restore the tool, or start a worker of its task queue.',
  },
  MalformedResult: {
    cause: 'The result does not fit the declared output schema.',
    remedy: 'Correct the tool or its output schema.',
  },
  KeyConflict: {
    cause: 'The ledger holds another call under the same idempotency key.',
    remedy: 'Give each task an id of its own (taskId).',
  },
  GrantInvalid: {
    cause: 'The approval of a call is for another call, or is missing.',
    remedy: 'Report the run: its call was not executed.',
  },
  InvalidBundle: {
    cause: 'The bundle cannot be read, is damaged, or is too large.',
    remedy: 'Export the run again.',
  },
  InvalidFixture: {
    cause:
      'The case, or the test of an agent, has a key or a value that is not known, or nothing could be played.',
    remedy: 'Mend what is named (docs/reference/cases.md, docs/guide/testing-an-agent.md).',
  },
  HistoryMissing: {
    cause: 'Temporal no longer has the history, and no archive of it is in the store.',
    remedy:
      'Raise the retention of the namespace for later runs. Events of this run are still in the store.',
  },
  ReplayDiffers: {
    cause: 'The code decides otherwise than the recording, or the recording was altered.',
    remedy: 'Compare the two with `holdfast diff`, and record anew when the change is meant.',
  },
  StepNotFound: {
    cause: 'The run has no step of this number.',
    remedy: 'List the steps with `holdfast inspect`.',
  },
  CaptureRefused: {
    cause: 'The run did something that no case can say.',
    remedy: 'Follow the reason in the message; a replay of the bundle is a test as well.',
  },
  ForkRefused: {
    cause: 'The run cannot be forked at this step in this way.',
    remedy: 'See with `holdfast fork … --plan` what a fork would begin with.',
  },
  RedactionRefused: {
    cause: 'The redaction would leave a secret in the bundle, or a rule matches nothing.',
    remedy: 'Correct the rules, and change a secret that a run has seen.',
  },
};
