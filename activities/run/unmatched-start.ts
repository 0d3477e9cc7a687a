/**
 * What a start forbids or allows by names that no tool of its run has. Events and results do not speak of it, and whoever starts a
 * run knows no tools: the worker that has opened the run tells it.
 * `holdfast start` tells it as well, by the configuration of its folder.
 * Invariants: the run is open before, and no failure of the telling is one of its opening; a process tells the same once.
 */
import type { Config } from '../../authoring/index.js';
import { remarksOnStart, toolsWithin } from '../../authoring/remarks.js';
import type { OpenRunInput, OpenRunOutput } from '../../core/state/effect.js';
import type { ActivityDeps } from '../deps.js';
import type { Scope } from '../scope.js';
import type { OpeningStart } from './bounds.js';
import { agentFor } from './freeze.js';

const TOLD_MAX = 1_000;
const told = new Set<string>();

/** Of a run that somebody started: what other runs hand on was told where it was said. */
export function tellUnmatched(
  { config, say }: Pick<ActivityDeps, 'config' | 'say'>,
  scope: Pick<Scope, 'warn'>,
  {
    input: { run, start },
    output,
  }: { readonly input: OpenRunInput; readonly output: OpenRunOutput },
): void {
  if (start?.parent !== undefined || start === undefined || output.elsewhere !== undefined) return;
  const tell = say ?? ((line: string) => scope.warn(line, {}));
  try {
    const subject = `The start of run ${run.runId}`;
    for (const line of unmatchedIn(config, subject, start)) {
      const key = `${start.agent}${line.replace(subject, '')}`;
      if (told.has(key) || told.size >= TOLD_MAX) continue;
      told.add(key);
      tell(line);
    }
  } catch {
    // The run is open all the same.
  }
}

/** Lines about `subject`. Errors: those of an agent that the configuration does not have. */
export function unmatchedIn(
  config: Config,
  subject: string,
  start: Pick<OpeningStart, 'agent' | 'task' | 'settings' | 'agents' | 'role'>,
): readonly string[] {
  // A list that starts of several agents share names tools of some of them.
  const { agents } = config;
  const tools = new Set(toolsWithin([agentFor(config, start), ...agents.values()], agents));
  for (const { record } of config.tools.values()) tools.add(record.name);
  return remarksOnStart(subject, start, tools);
}
