/** Messages as the vendor's API has them; the bare loop passes them through. */
export interface BareMessage {
  readonly role: 'user' | 'assistant';
  readonly content: unknown;
}

export interface BareReply {
  readonly content: unknown;
  readonly calls: readonly {
    readonly id: string;
    readonly name: string;
    readonly input: unknown;
  }[];
}
