/**
 * The tables as Kysely sees them. `tenant` is first in every primary key. Booleans are 0 or 1, times ms
 * since epoch, money integer micro-USD; columns named `*_json` hold JSON text. Migrations make them.
 */
import type {
  ConnectorLoginTable,
  ConnectorTokenTable,
  ConnectorToolTable,
} from './connector-tables.js';
import type { ForkTable, RecordedCallTable } from './fork-table.js';
import type { TrailTable } from './trail-table.js';
import type { UserMessageTable } from './user-message-table.js';
export interface BlobTable {
  readonly tenant: string;
  readonly hash: string;
  readonly content: Uint8Array;
}

export interface NodeTable {
  readonly tenant: string;
  readonly hash: string;
  readonly parent: string | null;
  /** RFC 8785 form of the node: what the hash was taken of. */
  readonly body: string;
}

export interface EventTable {
  readonly tenant: string;
  readonly run_id: string;
  readonly seq: number;
  /** Temporal run id of the execution that wrote the row. */
  readonly execution: string;
  readonly at: number;
  readonly superseded: number;
  readonly body: string;
}

export interface ExecutionTable {
  readonly tenant: string;
  readonly run_id: string;
  readonly execution: string;
  /** The greatest of a run is its current execution; -1: superseded before it was ever seen. */
  readonly rank: number;
}

export interface ResetTable {
  readonly tenant: string;
  readonly run_id: string;
  readonly epoch: number;
  readonly from_seq: number;
}

export interface RunTable extends TrailTable {
  readonly tenant: string;
  readonly run_id: string;
  readonly agent: string;
  readonly task_id: string;
  readonly goal_preview: string;
  readonly model: string;
  readonly caller: string | null;
  readonly status: string;
  readonly started_at: number;
  readonly updated_at: number;
  readonly last_seq: number;
  readonly epoch: number;
  readonly stop_reason: string | null;
  readonly detail: string | null;
  readonly cost_micro_usd: number | null;
  readonly completed_at: number | null;
  readonly result_seq: number | null;
  readonly result_json: string | null;
  readonly session_id: string | null;
  /** Newest message of its conversation, once the run has ended. */
  readonly head: string | null;
  /** Words of the first warning that is an alarm, and its seq. */
  readonly alarm: string | null;
  readonly alarm_seq: number | null;
  /** 'goal': a goal; 'run' otherwise. */
  readonly kind: string;
  /** Run id of the goal that it is a cycle of, or of the run that it is a sub-agent of. */
  readonly parent: string | null;
  /** Of a sub-agent: run id of the root of its tree. */
  readonly root: string | null;
  /** Of a goal that sleeps until a time. */
  readonly next_wake: number | null;
  /** Of a goal: what its cycles and reviews have cost so far. */
  readonly spent_micro_usd: number | null;
  readonly budget_micro_usd: number | null;
}

export interface SessionTable {
  readonly tenant: string;
  readonly session_id: string;
  readonly revision: number;
  readonly head: string;
  readonly run_id: string;
  readonly agent: string;
  readonly caller: string;
  readonly cwd: string;
  readonly title: string;
  readonly carry_json: string;
  /** Head and carry that the newest revision has replaced. */
  readonly before_head: string | null;
  readonly before_carry_json: string | null;
  readonly created_at: number;
  readonly updated_at: number;
  readonly forked_from: string | null;
}

export interface AskTable {
  readonly tenant: string;
  readonly run_id: string;
  readonly ask_id: string;
  readonly kind: string;
  readonly opened_at: number;
  readonly opened_seq: number;
  /** The whole AskView. */
  readonly view_json: string;
  readonly outcome: string;
  readonly by_json: string;
  readonly reason: string | null;
  readonly resolved_at: number | null;
  readonly closed_seq: number | null;
  /** What a search looks at, folded (ask-search.ts); empty: an older release has asked. */
  readonly search_text: string;
}

export interface LedgerTable {
  readonly tenant: string;
  readonly key: string;
  readonly args_digest: string;
  readonly attempt: number;
  readonly state: string;
  readonly was_claimed: number;
  /** Voided by the tool's own word that nothing happened. */
  readonly definite: number;
  readonly claimed_until: number;
  readonly result_json: string | null;
  readonly source: string | null;
  readonly run_id: string;
  readonly call_key: string;
  readonly tool: string;
  readonly late_json: string | null;
  /** Of the arguments alone, whatever the version of the tool; null: an older release wrote the row. */
  readonly plain_digest: string | null;
}

export interface EffectTable {
  readonly tenant: string;
  readonly key: string;
  readonly tool: string;
  readonly tool_version: string;
  readonly run_id: string;
  readonly args_digest: string;
  /** Of the ledger, which counts here. */
  readonly attempt: number;
  readonly claimed_at: number;
  /** It is part of totals. */
  readonly limited: number;
  /** Of the claim, in UTC. */
  readonly day: number;
  readonly amount: number | null;
  readonly customer: string | null;
  /** Digest of what it is about. */
  readonly identity: string | null;
  readonly identity_json: string;
  readonly approved_json: string;
  readonly reference: string;
  /** It is known not to have happened. */
  readonly released: number;
}

export interface EffectSubjectTable {
  readonly tenant: string;
  /** One of the texts of an identity. */
  readonly subject: string;
  readonly key: string;
}

export interface EffectTotalTable {
  readonly tenant: string;
  readonly tool: string;
  readonly name: string;
  readonly amount: number;
  readonly count: number;
}

export interface FreezeTable {
  readonly tenant: string;
  readonly freeze_id: string;
  readonly kind: string;
  readonly pattern: string;
  readonly frozen_by: string;
  readonly reason: string;
  readonly frozen_at: number;
  readonly until: number | null;
  readonly lifted_at: number | null;
  readonly lifted_by: string | null;
  readonly lift_reason: string | null;
}

export interface AttemptTable {
  readonly tenant: string;
  readonly run_id: string;
  readonly effect_id: string;
  readonly attempt: number;
  readonly kind: string;
  readonly bound_cost_micro_usd: number;
  readonly bound_input_tokens: number;
  readonly bound_output_tokens: number;
  readonly started_at: number;
  readonly outcome: string | null;
  readonly code: string | null;
  readonly usage_json: string | null;
  readonly cost_micro_usd: number | null;
  readonly estimated: number;
  readonly finished_at: number | null;
}

export interface ReplyTable {
  readonly tenant: string;
  readonly run_id: string;
  readonly call: number;
  readonly request_digest: string;
  readonly output_json: string;
}

export interface HistoryTable {
  readonly tenant: string;
  readonly run_id: string;
  readonly segment: number;
  readonly execution: string;
  readonly gzip: Uint8Array;
}

export interface ArchivalTable {
  readonly tenant: string;
  readonly run_id: string;
  readonly segment: number;
  readonly execution: string;
  readonly namespace: string;
  readonly state: string;
  /** Claims so far. */
  readonly tries: number;
  readonly since: number;
  readonly next_at: number;
  readonly lost_at: number | null;
  /** What went wrong in the last try. */
  readonly fault: string | null;
}

export interface StreamTable {
  readonly tenant: string;
  readonly run_id: string;
  /** Number of the newest attempt that streams; every other one is refused. */
  readonly fence: number;
  /** That attempt while it lasts. */
  readonly open_json: string | null;
  /** 1: the run has ended. */
  readonly closed: number;
  /** Characters of its chunks, of attempts that have ended. */
  readonly chars: number;
  readonly keep_ms: number;
  /** From when on the chunks may be removed; null: they were. */
  readonly removable_at: number | null;
}

export interface StreamChunkTable {
  readonly tenant: string;
  readonly run_id: string;
  readonly fence: number;
  /** Place of its first entry in the attempt. */
  readonly first: number;
  readonly count: number;
  readonly call: number;
  readonly attempt: number;
  readonly message_id: string;
  readonly entries_json: string;
}

export interface AuditTable {
  readonly tenant: string;
  readonly seq: number;
  readonly at: number;
  readonly kind: string;
  readonly by_whom: string | null;
  readonly run_id: string | null;
  readonly ask_id: string | null;
  readonly facts_json: string;
  readonly prev_hash: string;
  readonly hash: string;
}

export interface DeskKeyTable {
  readonly tenant: string;
  readonly kid: string;
  /** 64 hex digits. */
  readonly public_key: string;
  readonly state: string;
  readonly added_at: number;
  readonly changed_at: number;
}

export interface DeskRequestTable {
  readonly tenant: string;
  readonly by_whom: string;
  readonly key: string;
  readonly digest: string;
  readonly at: number;
  /** null: not answered yet. */
  readonly status: number | null;
  /** Of the answer; until there is one, how often it was refused for now. */
  readonly body: string | null;
}

export interface NoticeTable {
  readonly tenant: string;
  readonly target: string;
  readonly run_id: string;
  readonly ask_id: string;
  /** Of the question: asked anew after a reset, it is another one. */
  readonly opened_at: number;
  readonly kind: string;
  readonly state: string;
  /** Claims so far. */
  readonly tries: number;
  readonly first_at: number;
  readonly next_at: number;
  readonly claimed_by: string | null;
  readonly claimed_until: number | null;
  /** What went wrong in the last try, in our words. */
  readonly fault: string | null;
}

export interface StoreIdentityTable {
  /** Always 1: there is one row. */
  readonly one: number;
  /** 32 hex digits. */
  readonly id: string;
  readonly epoch: number;
  /** What the database last said of itself (store/identity.ts); null: nothing. */
  readonly marks: string | null;
}

export interface AdoptedRunTable {
  readonly tenant: string;
  readonly run_id: string;
  readonly at: number;
  readonly by_whom: string;
}

export interface ServedTable {
  /** Names one life of a worker process. */
  readonly worker: string;
  readonly namespace: string;
  readonly task_queue: string;
  /** By the clock of the database, as the other times of this table. */
  readonly since: number;
  readonly alive_at: number;
  readonly ended_at: number | null;
  readonly code_json: string;
}

export interface NeedTable {
  readonly tenant: string;
  readonly run_id: string;
  readonly namespace: string;
  readonly task_queue: string;
  readonly code_json: string;
}

export interface LetterTable {
  readonly tenant: string;
  readonly to_run: string;
  /** Of the recipient, from 1. */
  readonly seq: number;
  readonly from_run: string;
  readonly from_agent: string;
  /** Of the call that wrote it. */
  readonly key: string;
  readonly body: string;
  /** ms since epoch. */
  readonly written_at: number;
  readonly is_read: number;
}

export interface ChildTable {
  readonly tenant: string;
  readonly child: string;
  readonly parent: string;
  readonly n: number;
  readonly digest: string;
  readonly start_json: string;
  readonly state: string;
  /** Of a sub-agent: run id of the root of its tree. */
  readonly root: string | null;
  /** Names of the agents from the root to it. */
  readonly path_json: string | null;
  /** The call of its parent that started it. */
  readonly call_id: string | null;
  /** Of the server that its parent is on; null: written by a release that did not say. */
  readonly namespace: string | null;
  /** 0: it may become an orphan; 1: it is one, and was told to stop; 2: it has ended, or never was. */
  readonly watch: number;
  /** When a worker looks next whether its parent is there. */
  readonly look_at: number;
}

export interface ProposalTable {
  readonly tenant: string;
  readonly goal: string;
  readonly cycle: number;
  readonly k: number;
  readonly call_key: string;
  readonly proposal_json: string;
}

export interface GoalEffectTable {
  readonly tenant: string;
  readonly goal: string;
  readonly args_digest: string;
  /** The first that recorded it; 0: an earlier goal did. */
  readonly cycle: number;
  readonly key: string;
}

export interface WorkFolderTable {
  readonly tenant: string;
  /** Run id. */
  readonly owner: string;
  readonly version: number;
  readonly hash: string;
  readonly updated_at: number;
}

export interface FolderCommitTable {
  readonly tenant: string;
  readonly owner: string;
  readonly call_key: string;
  readonly attempt: number;
  readonly version: number;
  readonly state: string;
  readonly result_json: string;
}

export interface Tables {
  readonly blobs: BlobTable;
  readonly nodes: NodeTable;
  readonly events: EventTable;
  readonly executions: ExecutionTable;
  readonly resets: ResetTable;
  readonly runs: RunTable;
  readonly sessions: SessionTable;
  readonly asks: AskTable;
  readonly ledger: LedgerTable;
  readonly effects: EffectTable;
  readonly effect_subjects: EffectSubjectTable;
  readonly effect_totals: EffectTotalTable;
  readonly freezes: FreezeTable;
  readonly attempts: AttemptTable;
  readonly replies: ReplyTable;
  readonly histories: HistoryTable;
  readonly archivals: ArchivalTable;
  readonly streams: StreamTable;
  readonly stream_chunks: StreamChunkTable;
  readonly audit: AuditTable;
  readonly desk_keys: DeskKeyTable;
  readonly desk_requests: DeskRequestTable;
  readonly notices: NoticeTable;
  readonly store_identity: StoreIdentityTable;
  readonly adopted_runs: AdoptedRunTable;
  readonly served: ServedTable;
  readonly needs: NeedTable;
  readonly forks: ForkTable;
  readonly recorded_calls: RecordedCallTable;
  readonly children: ChildTable;
  readonly letters: LetterTable;
  readonly user_messages: UserMessageTable;
  readonly proposals: ProposalTable;
  readonly work_folders: WorkFolderTable;
  readonly folder_commits: FolderCommitTable;
  readonly goal_effects: GoalEffectTable;
  readonly connector_tools: ConnectorToolTable;
  readonly connector_tokens: ConnectorTokenTable;
  readonly connector_logins: ConnectorLoginTable;
  readonly schema_migrations: { readonly version: number; readonly name: string };
}
