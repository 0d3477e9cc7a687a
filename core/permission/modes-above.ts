/**
 * Permission modes of the ancestors of a sub-agent.
 * Invariant: the mode that an ancestor began with counts as long as the sub-agent runs; one that it was set to since
 * counts beside it, so that a change takes away and never gives.
 */
import type { Frozen } from '../state/frozen.js';
import type { PermissionMode } from '../state/permission-mode.js';
import type { Run } from '../state/run.js';
import type { Authority } from '../state/sub-agent.js';
import { warn } from '../step/outbox.js';

interface Below {
  readonly frozen: Pick<Frozen, 'within'>;
  readonly modesAbove?: readonly PermissionMode[];
}

/** Those of now, the nearest first. */
export function modesOver({ frozen, modesAbove }: Below): readonly PermissionMode[] {
  const { within = [] } = frozen;
  return within.map(({ mode }, generation) => modesAbove?.[generation] ?? mode);
}

/** Those in which an ancestor has its say. */
export function modesOf(
  { modesAbove }: Pick<Below, 'modesAbove'>,
  { mode }: Authority,
  generation: number,
): readonly PermissionMode[] {
  const now = modesAbove?.[generation] ?? mode;
  return now === mode ? [mode] : [mode, now];
}

/** Permission modes that are named in one moment. */
export const WANTED_MODES_MAX = 100;

/** Fact: its parent says in which modes it and those above it are now. */
export function heardModes(run: Run, modes: readonly PermissionMode[]): Run {
  const { modesAbove = [] } = run;
  const isKnown = modes.length === modesAbove.length && modes.every((m, i) => m === modesAbove[i]);
  if (isKnown || run.start.parent?.kind !== 'run') return run;
  return warn({ ...run, modesAbove: modes }, 'permission_mode', `above: ${modes.join(', ')}`);
}
