/** What a replay found, in words for a person. */
import type { Json } from '../core/json/json.js';
import { plural } from '../pure/plural.js';
import type { TreeReport } from './replay-tree.js';
import type { ReplayDifference, ReplayReport } from './strict-replay.js';

const VALUE_CHARS_MAX = 400;

/** Without line breaks of their own; whoever prints them makes them harmless. */
export function reportLines(report: TreeReport): readonly string[] {
  const { members = [] } = report;
  if (members.length === 0) return linesOfRun(report, report.equal);
  const differing = members.filter(({ equal }) => !equal);
  const below = `${plural(members.length, 'run')} below it`;
  const steps = members.reduce((sum, one) => sum + one.steps, 0);
  const extent = `${plural(steps, 'step')} in all`;
  const first =
    differing.length === 0
      ? `${below}: ${extent}, equal to the histories.`
      : `${below}: ${plural(differing.length, 'run')} of them ${differing.length === 1 ? 'does' : 'do'} not replay.`;
  const isRootEqual = report.differences.length === 0 && report.error === undefined;
  return [
    ...linesOfRun(report, isRootEqual),
    first,
    ...differing.flatMap((one) => linesOfRun(one, false)),
  ];
}

function linesOfRun(report: ReplayReport, isEqual: boolean): readonly string[] {
  const { runId, segments, steps, open, differences, error } = report;
  const extent = `${plural(steps, 'step')} in ${plural(segments, 'segment')}`;
  if (isEqual) {
    const still = open ? '; the run goes on' : '';
    return [`${runId} replays exactly: ${extent} equal to the history${still}.`];
  }
  const lines = [
    `${runId} does not replay: ${extent}, ${plural(differences.length, 'difference')}.`,
  ];
  for (const difference of differences) lines.push('', ...differenceLines(difference));
  if (error !== undefined) {
    lines.push(
      '',
      `Temporal's check failed in segment ${error.segment}: ${oneLine(error.message)}`,
    );
  }
  return lines;
}

export function differenceLines(difference: ReplayDifference): readonly string[] {
  const { what, path, recorded, replayed, code, rules } = difference;
  const by = [
    ...(code === undefined ? [] : [code]),
    ...(rules === undefined ? [] : [`rules ${rules}`]),
  ];
  return [
    `${placeText(difference)}: ${WHAT[what]}`,
    ...(path === '' ? [] : [`  at        ${path}`]),
    ...(what === 'only replayed' ? [] : [`  recorded  ${valueText(recorded)}`]),
    ...(what === 'only recorded' ? [] : [`  replayed  ${valueText(replayed)}`]),
    ...(by.length === 0 ? [] : [`  recorded by ${by.join(', ')}`]),
  ];
}

const WHAT: { readonly [what in ReplayDifference['what']]: string } = {
  value: 'it has other data',
  'only recorded': 'the replay did not do it',
  'only replayed': 'the history does not have it',
};

function placeText({ segment, eventId, kind, id, tool }: ReplayDifference): string {
  const event = eventId === undefined ? '' : `, event ${eventId}`;
  const step = `${kind.replaceAll('_', ' ')}${id === '' ? '' : ` ${id}`}`;
  return `Segment ${segment}${event}, ${step}${tool === undefined ? '' : ` (${tool})`}`;
}

function valueText(value: Json | undefined): string {
  if (value === undefined) return '(nothing)';
  const text = JSON.stringify(value);
  return text.length > VALUE_CHARS_MAX ? `${text.slice(0, VALUE_CHARS_MAX)}…` : text;
}

function oneLine(text: string): string {
  return text.replaceAll(/\s+/g, ' ');
}
