/**
 * PreCompact: before the conversation is summarised. Whoever starts a compaction asks here first, and says
 * so when it has started.
 */
import { type OpenRun, type Step, hasHooks } from '../state/run.js';
import { startHooks } from './start.js';

/** undefined: the compaction may start now. */
export function preCompact(
  run: OpenRun,
  trigger: 'auto' | 'reactive',
): Step<OpenRun> | 'hold' | undefined {
  if (run.preCompact === 'done' || !hasHooks(run, 'PreCompact')) return undefined;
  if (run.preCompact === 'running') return 'hold';
  return startHooks({ ...run, preCompact: 'running' }, { point: 'PreCompact' }, { trigger });
}

/** The compaction has started: the next one is asked about anew. */
export function compactionStarted(run: OpenRun): OpenRun {
  const { preCompact: _, ...rest } = run;
  return rest;
}
