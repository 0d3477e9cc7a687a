/** The tables of forks (forks.ts). */
/** Of a fork: where it began. `root` is the recorded run that was no fork itself. */
export interface ForkTable {
  readonly tenant: string;
  readonly run_id: string;
  readonly parent: string;
  readonly root: string;
  readonly step: number;
  readonly digest: string;
  /** The state that it begins from, as JSON. */
  readonly body: string;
  readonly created_at: number;
}

/** A call that the record of a forked run gave to an executor; the ledger need not have it. */
export interface RecordedCallTable {
  readonly tenant: string;
  /** The recorded run. */
  readonly run_id: string;
  readonly key: string;
  readonly tool: string;
  readonly args_digest: string;
  readonly at: number;
  /** 1: the record says that it ended well. */
  readonly done: number;
}
