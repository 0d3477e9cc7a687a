/**
 * A child of a goal or of a run, as its parent watches it: a cycle, or a sub-agent.
 * Invariants: its row is in the store before it is started; its own word that it has ended is a hint, its outcome is read
 * from the store; it is looked at after growing times without a word.
 */
export interface WatchedChild {
  /** Its run id. */
  readonly child: string;
  /**
   * preparing: its row is written; starting: its row is there; open: it runs, or ran before; closing: its outcome is read.
   */
  readonly stage: 'preparing' | 'starting' | 'open' | 'closing';
  /** It said that it has ended, or should be looked at. */
  readonly due: boolean;
  /** It waited for people or a time alone, when it was looked at. */
  readonly waiting?: true;
  /** It is looked at when this timer fires. */
  readonly look?: { readonly timer: string; readonly afterMs: number };
  /** How long the next look is away, ms; absent: a minute. */
  readonly nextLookMs?: number;
  /** With 'closing': after how long it was looked at. */
  readonly lookedAfterMs?: number;
}
