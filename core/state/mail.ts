/**
 * The mailbox of a run: what other runs of its tree say to it (`message_agent`). Letters lie in the store, written by the
 * worker that ran the sender's call; a signal only says that there are some.
 */

/** The built-in tool: {to, text}. */
export const MESSAGE_TOOL = 'message_agent';

export const MAIL_LIMITS = {
  /** Of one letter. */
  textChars: 4_000,
  /** Letters of one run that nobody has read. */
  unread: 50,
  /** Letters that one run may get in all. */
  inAll: 1_000,
  /** Letters that one `read_mail` brings. */
  atOnce: 5,
  /** Of their JSON together, but for one letter that is larger. */
  bytesAtOnce: 16_384,
} as const;

export interface Sender {
  readonly run: string;
  /** Of its agent. */
  readonly agent: string;
}

export interface Letter {
  /** Of the recipient, from 1, gap-free. */
  readonly seq: number;
  readonly from: Sender;
  readonly text: string;
}

/** What a run knows of its mailbox. */
export interface Mailbox {
  /** `seq` of the newest letter that it has taken. */
  readonly taken: number;
  /** There may be more. */
  readonly due?: true;
  /** How often it was looked into since the newest request. */
  readonly reads?: number;
}
