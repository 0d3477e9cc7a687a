/**
 * The one error class of Holdfast and its closed list of codes. Codes double as the `type` of
 * Temporal ApplicationFailures, so they are part of recorded histories: add, never rename.
 */
export const ERROR_CODES = [
  // Model (G29)
  'RateLimited',
  'Overloaded',
  'ServerError',
  'NetworkTimeout',
  'PromptTooLong',
  'AuthError',
  'InvalidRequest',
  'ContentRefused',
  'Aborted',
  'BudgetExhausted',
  'MalformedReply',
  // Tools
  'ToolRetryable',
  'ToolFatal',
  'ToolOutcomeUnknown',
  'ToolUnavailable',
  'MalformedResult',
  'KeyConflict',
  'GrantInvalid',
  // Runs and store
  'TranscriptMissing',
  'NotServed',
  'WrongStore',
  'RulesTooNew',
  'InvalidTask',
  'UnsupportedContent',
  'UnknownAgent',
  'RunExists',
  'RunNotFound',
  'RunNotCompleted',
  'StepNotFound',
  'SessionNotFound',
  'SessionExists',
  'SessionBusy',
  'ScheduleNotFound',
  'ScheduleExists',
  'AskNotFound',
  'DecisionRejected',
  'MessageRefused',
  'StalePlan',
  'StoreUnavailable',
  'UndecodablePayload',
  // Authoring and environment
  'InvalidTool',
  'InvalidAgent',
  'InvalidConfig',
  'InvalidFixture',
  'InvalidBundle',
  'HistoryMissing',
  'ReplayDiffers',
  'CaptureRefused',
  'ForkRefused',
  'RedactionRefused',
  'UnknownModel',
  'ModelKeyMissing',
  'ServerUnavailable',
  'PortTaken',
  'DataFolderInUse',
  'FileUnusable',
  'Usage',
  'Internal',
] as const;

export type ErrorCode = (typeof ERROR_CODES)[number];

export interface ErrorContext {
  /** The next action that mends it, as an imperative sentence. */
  readonly hint?: string;
  /** Facts for machines; small, JSON. */
  readonly details?: Readonly<Record<string, unknown>>;
  readonly cause?: unknown;
}

/** Every expected failure of Holdfast. `message` says what is wrong, `hint` what to do next. */
export class HoldfastError extends Error {
  readonly code: ErrorCode;
  readonly hint: string | undefined;
  readonly details: Readonly<Record<string, unknown>> | undefined;

  constructor(code: ErrorCode, message: string, context: ErrorContext = {}) {
    super(message, context.cause === undefined ? undefined : { cause: context.cause });
    this.name = 'HoldfastError';
    this.code = code;
    this.hint = context.hint;
    this.details = context.details;
  }
}

export function isErrorCode(value: unknown): value is ErrorCode {
  return typeof value === 'string' && (ERROR_CODES as readonly string[]).includes(value);
}
