/** The table of messages that runs have heard (user-messages.ts). */
export interface UserMessageTable {
  readonly tenant: string;
  readonly run_id: string;
  /** Of the event. */
  readonly seq: number;
  /** What it is called in the conversation. */
  readonly message_id: string;
  /** null: its sender calls it nothing, or its run does not tell. */
  readonly client_message_id: string | null;
}
