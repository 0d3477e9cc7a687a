/** The public API over runs: start, follow, decide, control. The only folder that speaks to Temporal's client. */
export { connect, type ConnectOptions, type HoldfastClient } from './connect.js';
export type { Allowance, Answer, AskDecision, Decider } from './decide.js';
export type { Delivery } from './deliver.js';
export { createDeskKey, readDeskKey, type DeskSigner } from './desk-signer.js';
export { objectionToKey } from './key-standing.js';
export type { EventsOptions } from './event-stream.js';
export type { Execution } from './execution.js';
export { followRun, type RunMoment } from './follow-run.js';
export type { FoundAsk } from './find-ask.js';
export type { ReadingStore } from './link.js';
export type { RunSummary } from './run-summary.js';
export type { NamespaceFacts } from './namespace.js';
export type { Outcome, WaitOptions } from './outcome.js';
export type { Replacement, RunHandle } from './run-handle.js';
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
export type { TotalUsage } from './query/query-life.js';
export { newRunId } from './run-id.js';
export type { SessionOptions } from './choose-session.js';
export type { StartOptions } from './start-run.js';
export type { Transcript, TranscriptMessage } from './transcript.js';
export { transcriptMarkdown } from './transcript-markdown.js';
export type { StreamOptions } from './token-stream.js';
export { awayStore, STORE_AWAY, unlessStoreAway } from './store-away.js';
export type { StuckRun } from './stuck-runs.js';
export { RIGHT_STORE, type Wait } from './waits.js';
