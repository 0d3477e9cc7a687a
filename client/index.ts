/** The public API over runs: start, follow, decide, control. The only folder that speaks to Temporal's client. */
export { connect, type ConnectOptions, type HoldfastClient } from './connect.js';
export { checkFits } from './decide/check-fits.js';
export type { Allowance, Answer, AskDecision, Decider } from './decide/decide.js';
export type { Delivery } from './decide/deliver.js';
export { createDeskKey, readDeskKey, type DeskSigner } from './decide/desk-signer.js';
export { objectionToKey } from './decide/key-standing.js';
export type { EventsOptions } from './read/event-stream.js';
export type { HistoryAccess } from './runs/history-access.js';
export type { Execution } from './runs/execution.js';
export { followTree, type TreeMoment } from './runs/follow-tree.js';
export { followRun, type FollowOptions, type RunMoment } from './runs/follow-run.js';
export type { SessionNow } from './runs/open-runs.js';
export type { HeardMessage, MessagePlace } from './read/conversations.js';
export type { WholeMoment, WholeTreeMoment } from './read/whole-event.js';
export { isAnswerRead } from './decide/heard-answer.js';
export type { FoundAsk } from './decide/find-ask.js';
export type { ReadingStore } from './link.js';
export type { Poller } from './workers.js';
export type { RunSummary } from './read/run-summary.js';
export type { GoalHandle } from './goals/goal-handle.js';
export type { GoalOutcomeNow } from './goals/goal-outcome.js';
export type { GoalBrief, GoalRecord, GoalResult } from './goals/goal-record.js';
export type { GoalsQuery, GoalSummary } from './goals/list-goals.js';
export type { GoalStartOptions, RestartOptions } from './goals/start-goal.js';
export type { Speaker, Told } from './goals/tell-goal.js';
export type { NamespaceFacts } from './namespace.js';
export type { Outcome, WaitOptions } from './runs/outcome.js';
export type { Replacement, RunHandle } from './runs/run-handle.js';
export type { Attachable, AttachedPath, MessageOptions } from './runs/attach.js';
export type { Overlap, ScheduleOptions, Span, Ticks } from './schedules/check-schedule.js';
export type { ScheduleHandle, ScheduleSummary, ScheduleView } from './schedules/schedules.js';
export { query, runOrThrow, type QueryParameters, type Via } from './query/index.js';
export { LoopError } from './query/loop-error.js';
export type {
  CanUseTool,
  FollowQueryOptions,
  FollowQuery,
  OnQuestion,
  PermissionContext,
  PermissionResult,
  QueryOptions,
  QueryRequest,
  QuestionReply,
  StartQuery,
  UserPrompt,
} from './query/options.js';
export type { Query } from './query/query.js';
export type { TypedMessage, TypedQuery, TypedResult, TypedSuccess } from './query/typed-output.js';
export type { TotalUsage } from './query/query-life.js';
export { newRunId } from './runs/run-id.js';
export type { SessionOptions } from './runs/choose-session.js';
export type { StartOptions } from './runs/start-run.js';
export type { HeldUp } from './runs/until-open.js';
export type { Transcript, TranscriptMessage } from './read/transcript.js';
export { transcriptMarkdown } from './read/transcript-markdown.js';
export type { StreamOptions } from './read/token-stream.js';
export { awayStore, STORE_AWAY, unlessStoreAway, whyAway } from './store-away.js';
export type { StuckRun } from './read/stuck-runs.js';
export { RIGHT_STORE, type Wait } from './read/waits.js';
