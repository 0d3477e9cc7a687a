/**
 * Orphans: sub-agents and cycles of goals that run although nobody waits for them any more.
 * Invariants: a child whose parent runs is no orphan, unless the parent has given it up, which its sealed row says; an
 * answer that is missing decides nothing; a run that another one started under the child's id is left alone.
 */

/** What the server knows of a run; undefined: it did not say. */
export type KnownRun =
  | {
      readonly state: 'running' | 'closed' | 'not_found';
      /** Workflow id of the one that started it as its child; null: none did. */
      readonly parent?: string | null;
    }
  | undefined;

/**
 * Why nobody waits for a child: its parent has ended, or was terminated; its parent is not known to the server any
 * more; its parent gave it up, or was reset and went on without it.
 */
export type OrphanReason = 'parent_closed' | 'parent_forgotten' | 'given_up';

export interface WatchedRow {
  readonly parent: string;
  readonly sealed: boolean;
}

/** Undefined: the child has a parent that waits for it, or nobody can tell. */
export function orphanReason(row: WatchedRow, parent: KnownRun): OrphanReason | undefined {
  if (parent === undefined) return undefined;
  if (parent.state === 'closed') return 'parent_closed';
  if (row.sealed) return 'given_up';
  return parent.state === 'not_found' ? 'parent_forgotten' : undefined;
}

/**
 * What is to be done about an orphan. stop: it runs; over: nothing of it runs, or will; stranger: the run that has its id
 * is not it; unclear: neither it nor its parent is known here, so that the server may be another one than theirs; ask
 * again: the server did not say.
 */
export type OrphanVerdict = 'stop' | 'over' | 'stranger' | 'unclear' | 'ask_again';

/** `isServerTheirs`: the server knows some other run of their tree. */
export function orphanVerdict(
  row: WatchedRow,
  reason: OrphanReason,
  { child, isServerTheirs }: { readonly child: KnownRun; readonly isServerTheirs: boolean },
): OrphanVerdict {
  if (child === undefined) return 'ask_again';
  const isForgotten = child.state === 'not_found' && reason === 'parent_forgotten';
  if (isForgotten) return isServerTheirs ? 'over' : 'unclear';
  if (child.state !== 'running') return 'over';
  return child.parent === row.parent ? 'stop' : 'stranger';
}
