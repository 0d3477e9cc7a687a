/** Columns of runs that tell what searches ask of events (trail-columns.ts). */
export interface TrailTable {
  /** Rules number that it began with; null: its events do not tell it. */
  readonly rules: number | null;
  /** Names of the tools that it called, and codes with which calls failed. */
  readonly tools_used: string | null;
  readonly error_codes: string | null;
  readonly last_error_tool: string | null;
  readonly last_error_code: string | null;
  /** The rule that ended it. */
  readonly ended_by: string | null;
}
