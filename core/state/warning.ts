/**
 * What a run warns of, closed: one row a code.
 * Invariant: a code that was ever emitted stays here, because events that are stored have it.
 */
import { ownValue } from '../json/json.js';

interface WarningKind {
  /** What a reader of the event learns. */
  readonly says: string;
  /** Something came from outside that may not count: the audit trail has it. */
  readonly audited?: true;
  /** What came counts: the trail tells it as what it did, not as ignored. */
  readonly counts?: true;
  /** A control of the run was refused: whoever reads the run's messages is told. */
  readonly refusesControl?: true;
}

const KINDS = {
  approval_mismatch: {
    says: 'A decision is about other arguments than the question.',
    audited: true,
  },
  approval_vague: { says: 'A decision does not name what it decides.', audited: true },
  approval_late: { says: 'A decision comes after its question was settled.', audited: true },
  approval_duplicate: { says: 'The person of a decision has decided already.', audited: true },
  decision_unproven: { says: 'A decision carries no valid signature.', audited: true },
  decision_ignored: { says: 'A decision does not count.', audited: true },
  correction_refused: { says: 'A correction of a call cannot be made.', audited: true },
  input_ignored: { says: 'An input of a person does not count.', audited: true },
  permission_mode: { says: 'The permission mode changes.', audited: true, counts: true },
  permission_mode_refused: {
    says: 'Another permission mode is refused.',
    audited: true,
    refusesControl: true,
  },
  model_refused: { says: 'Another model is refused.', refusesControl: true },
  rejected_resolveApproval: { says: 'The signal of a decision cannot be read.', audited: true },
  rejected_provideInput: { says: 'The signal of an answer cannot be read.', audited: true },
  rejected_userMessage: { says: 'The signal of a message cannot be read.', audited: true },
  rejected_setModel: { says: 'The signal for another model cannot be read.', audited: true },
  rejected_setMaxThinkingTokens: {
    says: 'The signal for another limit of thinking cannot be read.',
    audited: true,
  },
  rejected_setPermissionMode: {
    says: 'The signal for another permission mode cannot be read.',
    audited: true,
  },
  rejected_signal: { says: 'The run knows no signal of this name.', audited: true },
  agent_lost: {
    says: 'The end of a sub-agent cannot be confirmed: all that was reserved for it counts as spent.',
  },
  cost_exploding: {
    says: 'Cost or tokens of a turn keep doubling; lists and `holdfast doctor` tell of the run.',
  },
  message_dropped: { says: 'A message finds no room and is dropped.' },
  messages_unread: { says: 'Messages come too late: no request has them.' },
  mail_not_read: { says: 'Letters of other runs cannot be read now; the next one reads them.' },
  supervisor_silent: { says: 'A look of the supervisor brings no word: the run goes on.' },
  supervisor_unpaid: { says: 'Too little money is left for a look of the supervisor.' },
  early_input: { says: 'An outcome comes before the run was opened.' },
  late_input: { says: 'An outcome comes that the run does not wait for.' },
  billed_above_bound: { says: 'A model call cost more than was reserved for it.' },
  usage_unreadable: { says: 'The reported usage cannot be read: the bound counts.' },
  unknown_stop_reason: { says: 'The vendor ended a reply for a reason that is not known.' },
  reply_incomplete: { says: 'The vendor did not send all of a reply.' },
  attachments_not_read: {
    says: 'The model does not read what was attached: it is told of it in words.',
  },
  thinking_limit_ignored: { says: 'The model takes no limit of thinking tokens.' },
  surplus_calls: { says: 'A reply makes more calls than one reply may.' },
  hosted_calls_unlisted: { says: 'The vendor ran more calls than the run lists.' },
  arguments_left_out: {
    says: 'Arguments have fields that the schema of the tool does not declare.',
  },
  key_conflict: { says: 'The idempotency key of a call is taken by another action.' },
  tool_schema_changed: {
    says: 'A worker serves a tool with another schema than the run began with.',
  },
  connector_down: { says: 'The server of a connector could not be reached: its tools are hidden.' },
  server_tool_hidden: {
    says: 'A tool of a connector is hidden: its definition cannot be used, or nobody has approved it.',
  },
  server_tool_changed: {
    says: 'A server describes a tool otherwise than when the run began: the run calls it no more.',
  },
  queue_unserved: { says: 'No worker of the task queue of a tool took its call.' },
  not_compacted: { says: 'A compaction has not shortened the conversation.' },
  history_repaired: { says: 'A call of the stored conversation had no result and was given one.' },
  state_not_forked: { says: 'A fork begins without the previous values of its session.' },
  segment_not_archived: { says: 'The history of a closed segment is not in the archive yet.' },
  evidence_unknown: { says: 'An id of evidence exists nowhere in the goal: it counts as none.' },
  proposal_superseded: { says: 'A proposal of a cycle came too late to count.' },
  goal_message_refused: {
    says: 'A message of a person to the goal does not count.',
    audited: true,
    refusesControl: true,
  },
  rejected_goalMessage: { says: 'A message to the goal cannot be read.', audited: true },
  check_unknown: { says: 'A check of the goal gave no result.' },
  check_changed: { says: 'The tool of a check is served with another schema than was frozen.' },
  judge_invalid: { says: 'A judge or the reviewer gave no valid answer.' },
  judge_unpaid: { says: 'No money is left to ask a judge or the reviewer.' },
  brief_changed: { says: 'The brief of a cycle is not the one that a person approved.' },
  cycle_lost: { says: 'The end of a cycle cannot be confirmed: the whole slice is billed.' },
  child_id_taken: { says: 'The run id of a cycle belongs to another start.' },
  run_adopted: { says: 'The run goes on with another store.' },
  store_restored: { says: 'The store of the run was restored from a backup.' },
} as const satisfies { readonly [code: string]: WarningKind };

export type WarningCode = keyof typeof KINDS;

export const WARNINGS: { readonly [code in WarningCode]: WarningKind } = KINDS;

/** undefined: a newer release has emitted it. */
export function warningKind(code: string): WarningKind | undefined {
  return ownValue<WarningKind>(WARNINGS, code);
}

/** The messages that are parsed before the core sees them; a code names each that could not be. */
export type RejectedMessage = WarningCode extends infer Code
  ? Code extends `rejected_${infer Message}`
    ? Message
    : never
  : never;
