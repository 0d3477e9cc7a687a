/** `holdfast replay --config`: what schemas, policy and limits of today would have decided about the calls of then. */
import { resolve } from 'node:path';
import type { CallDecision, ChangedDecision } from '../../evaluation/past/decisions.js';
import type { Bundle } from '../../replay/bundle.js';
import { EXIT } from '../exit-code.js';
import { inert, plural } from '../render/index.js';
import type { Output } from '../terminal/output.js';

interface OnConfig {
  readonly config?: string;
  readonly agent?: string;
  readonly folder: string;
}

/** Gives the exit code: 0 only if everything is decided as it was. */
export async function replayOnConfig(
  bundle: Bundle,
  { config: name = '', agent, folder }: OnConfig,
  output: Output,
): Promise<number> {
  const { loadConfig } = await import('../../worker/load-config.js');
  const { playPast } = await import('../../evaluation/past/play.js');
  const { outcomeOf } = await import('../../evaluation/past/outcome.js');
  const { changedDecisions } = await import('../../evaluation/past/decisions.js');
  const file = resolve(folder, name);
  const config = await loadConfig({ folder, file });
  const play = await playPast(bundle, {
    unmatched: 'stop',
    own: { file, config, ...(agent !== undefined && { agent }) },
  });
  const { runId } = bundle.run;
  const { was, now, same_end: sameEnd } = outcomeOf(runId, play);
  const decisions = changedDecisions(play);
  const equal = decisions.length === 0 && sameEnd;
  output.data({ runId, equal, decisions, was, now });
  if (output.json) return equal ? EXIT.completed : EXIT.error;
  output.line(
    equal
      ? `${inert(runId)}: everything is decided as it was.`
      : `${inert(runId)}: ${plural(decisions.length, 'call comes', 'calls come')} out otherwise.`,
  );
  for (const one of decisions) output.line(`  ${decisionLine(one)}`);
  const ends = [was, now].map(({ stop_reason: reason, detail }) =>
    detail === null ? reason : `${reason} (${inert(detail, 200)})`,
  );
  output.line(`  end  ${sameEnd ? ends[0] : `${ends[0]} then, ${ends[1]} now`}`);
  return equal ? EXIT.completed : EXIT.error;
}

function decisionLine({ call, tool, was, now }: ChangedDecision): string {
  return `${inert(tool)} (${inert(call)}): ${words(was)} then, ${words(now)} now`;
}

function words(decision: CallDecision | null): string {
  if (decision === null) return 'not asked for';
  const { permission, rule, end } = decision;
  const by = rule === undefined ? '' : ` by ${inert(rule, 100)}`;
  const said = permission === undefined ? [] : [`${permission}${by}`];
  return [...said, end ?? 'without an end'].join(', ');
}
