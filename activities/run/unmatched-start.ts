/**
 * What a start forbids or allows by names that no tool of its run has. Events and results do not speak of it, and whoever starts a
 * run knows no tools: the worker that opens the run tells it.
 */
import { remarksOnStart, toolsWithin } from '../../authoring/remarks.js';
import type { RunRef } from '../../core/state/effect.js';
import type { InTransaction } from '../deps.js';
import type { Scope } from '../scope.js';
import type { OpeningStart } from './bounds.js';
import { agentFor } from './freeze.js';

/** Of a run that somebody started: what other runs hand on was told where it was said. */
export function tellUnmatched(
  { config, say }: InTransaction,
  scope: Pick<Scope, 'warn'>,
  { run, start }: { readonly run: RunRef; readonly start: OpeningStart },
): void {
  if (start.parent !== undefined) return;
  const tools = toolsWithin(agentFor(config, start), config.agents);
  for (const line of remarksOnStart(`The start of run ${run.runId}`, start, tools))
    (say ?? ((text) => scope.warn(text, {})))(line);
}
