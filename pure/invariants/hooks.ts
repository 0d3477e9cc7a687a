/**
 * What must hold of hooks after every step: a part of the invariants.
 */
import type { Run, Step } from '../../core/state/run.js';
import { started, type StepPredicate } from './step.js';

export const HOOK_PREDICATES: readonly StepPredicate[] = [hooksHaveTheirErrand, sessionEndsOnce];

function hooksHaveTheirErrand(_before: Run, step: Step): string | undefined {
  const { errands = {}, inflight } = step.run;
  const flying = Object.keys(inflight).filter((id) => inflight[id]?.kind === 'run_hooks');
  const lost = flying.find((id) => errands[id] === undefined);
  if (lost !== undefined) return `nobody knows what ${lost} is for`;
  const idle = Object.keys(errands).find((id) => !flying.includes(id));
  return idle === undefined ? undefined : `the hooks ${idle} are waited for and not in flight`;
}

/** Its SessionEnd hooks run after the result and before the run is stored. */
function sessionEndsOnce(before: Run, step: Step): string | undefined {
  const { run } = step;
  const hooks = started(step).filter((effect) => effect.kind === 'run_hooks');
  if (before.stopping !== undefined && hooks.some(({ input }) => input.point !== 'SessionEnd'))
    return 'a hook starts although the run stops';
  const ending = hooks.some(({ input }) => input.point === 'SessionEnd');
  if (ending && run.stopping?.result === undefined) return 'SessionEnd before the result';
  if (ending && before.stopping?.sessionEnd !== undefined) return 'SessionEnd a second time';
  const wanted = (run.frozen?.hooks.SessionEnd ?? []).length > 0;
  const closes = started(step).some((effect) => effect.kind === 'close_run');
  return wanted && closes && run.stopping?.sessionEnd !== 'done'
    ? 'the run is closed before its SessionEnd hooks have run'
    : undefined;
}
