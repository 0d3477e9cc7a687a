/** The tables of forks (forks.ts), and where a run stands among them. */
import { sql, type AliasedRawBuilder } from './query-builder.js';

/** Of a fork: where it began. `root` is the recorded run that was no fork itself, or that is above all of its tree. */
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
  /** The recorded run, or one below it. */
  readonly run_id: string;
  readonly key: string;
  readonly tool: string;
  readonly args_digest: string;
  /** Of the arguments alone, whatever the version of the tool; null: an older release wrote the row. */
  readonly plain_digest: string | null;
  readonly at: number;
  /** 1: the record says that it ended well. */
  readonly done: number;
}

/** Where a fork began. */
export interface ForkedFrom {
  readonly runId: string;
  readonly step: number;
}

export interface ForkColumns {
  readonly fork_parent: string | null;
  readonly fork_step: number | null;
}

/** Columns of a select from runs. */
export function forkColumns(): readonly [
  AliasedRawBuilder<string | null, 'fork_parent'>,
  AliasedRawBuilder<number | null, 'fork_step'>,
] {
  const row = sql`from forks where forks.tenant = runs.tenant and forks.run_id = runs.run_id`;
  return [
    sql<string | null>`(select forks.parent ${row})`.as('fork_parent'),
    sql<number | null>`(select forks.step ${row})`.as('fork_step'),
  ];
}

export function forkedFrom(columns: Partial<ForkColumns>): { readonly forked?: ForkedFrom } {
  const { fork_parent: runId = null, fork_step: step = null } = columns;
  return runId === null || step === null ? {} : { forked: { runId, step: Number(step) } };
}
