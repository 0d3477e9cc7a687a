/** The runs whose histories are kept for each release, and the cases that they are played from. */
import { readdirSync } from 'node:fs';
import { join } from 'node:path';

const ROOT = join(__dirname, '..', '..');
/** One folder for each release; what is in it is never written again. */
export const HISTORIES = join(__dirname, 'histories');

/** Names are what the run shows. */
export const RECORDINGS: { readonly [name: string]: string } = {
  // Every stop reason.
  completed: 'test/scenarios/A/S1.json',
  refused: 'test/scenarios/A/S2.json',
  'refused-by-model': 'test/scenarios/A/S9.json',
  tool_failure: 'test/scenarios/A/S3.json',
  'needs_human-escalated': 'test/scenarios/A/S7.json',
  'needs_human-tool-failures': 'test/scenarios/A/S5a.json',
  empty_response: 'test/scenarios/A/S12a.json',
  evidence_missing: 'test/scenarios/A/S18.json',
  invalid_output: 'test/scenarios/G/S128b.json',
  failed: 'test/scenarios/F/S98.json',
  interrupted: 'test/scenarios/C/S51.json',
  aborted: 'test/scenarios/H/S129a.json',
  max_turns: 'test/scenarios/D/S57.json',
  max_tool_calls: 'test/scenarios/D/S63.json',
  max_cost: 'test/scenarios/D/S68a.json',
  max_tokens: 'test/scenarios/E/S81.json',
  max_input_tokens: 'test/scenarios/rules/C7-input-tokens-add-up.json',
  max_output_tokens: 'test/scenarios/rules/C7-output-tokens-before-tools.json',
  timeout: 'test/scenarios/rules/G19-zero-time.json',
  prompt_too_long: 'test/scenarios/E/S91.json',
  stop_hook_prevented: 'test/scenarios/I/S146.json',
  // People.
  approved: 'test/scenarios/C/S39.json',
  rejected: 'test/scenarios/C/S40.json',
  expired: 'test/replay/cases/expired.json',
  corrected: 'test/scenarios/rules/G9-correction-runs-in-place.json',
  replaced: 'test/scenarios/rules/G9-replacement-runs-in-place.json',
  'outcome-unknown': 'test/scenarios/rules/G82-outcome-unknown-stop.json',
  'outcome-happened': 'test/scenarios/rules/G82-it-happened.json',
  conversation: 'test/scenarios/rules/G90-conversation-takes-the-next-message.json',
  // What changes how a run goes on.
  compaction: 'test/scenarios/E/S88b.json',
  'compaction-reactive': 'test/scenarios/E/S90.json',
  fallback: 'test/scenarios/rules/G32-sticky-for-the-session.json',
  'model-set': 'test/scenarios/J/S159.json',
  dataflow: 'test/scenarios/rules/G1-values-keep-their-type.json',
  hooks: 'test/scenarios/rules/C19-hook-changes-the-input.json',
  'long-text': 'test/replay/cases/long-text.json',
};

/** Played where histories are short. */
export const CONTINUED: { readonly [name: string]: string } = {
  'continue-as-new': 'test/replay/cases/continued.json',
};

export function pathOf(fixture: string): string {
  return join(ROOT, fixture);
}

/** All bundles that are kept, oldest release first. */
export function keptBundles(): readonly string[] {
  return readdirSync(HISTORIES, { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.json'))
    .toSorted()
    .map((file) => join(HISTORIES, file));
}
