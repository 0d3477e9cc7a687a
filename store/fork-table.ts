/** The table of forks (forks.ts). */
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
