/**
 * The runs of a bundle as a tree: the run that was exported, and the sub-agents or cycles below it.
 * Invariant of what was read: each member stands after its parent, so no run is above itself, and its own history says
 * whose child it is.
 */
import { parseStart } from '../core/messages/parse-start.js';
import { HoldfastError } from '../core/state/errors.js';
import { argumentsOf, attributesOf, type HistoryEvent } from '../recording/history.js';
import type { Bundle, Member, Segment } from './bundle.js';

export const MEMBERS_MAX = 1_000;
/** A goal, its cycle, and five generations of sub-agents at most. */
export const DEPTH_MAX = 8;
const NAMED_MAX = 5;
const ID_CHARS_MAX = 200;

export type BundledRun = Pick<Bundle, 'run' | 'versions' | 'segments' | 'events'>;

/** The root first, each other run after its parent. */
export function runsOf(bundle: Bundle): readonly BundledRun[] {
  return [bundle, ...(bundle.members ?? [])];
}

/** One run of a bundle as a bundle of its own, with the messages and large texts of all. */
export function aloneOf(bundle: Bundle, { run, versions, segments, events }: BundledRun): Bundle {
  const { exportedAt, nodes, blobs, redactions } = bundle;
  return { run, exportedAt, versions, segments, nodes, blobs, events, redactions };
}

/** `name`: a run id, or what it has behind that of the root: `a1`, `c2:a1`. Errors: RunNotFound. */
export function memberOf(bundle: Bundle, name: string): Bundle {
  const root = bundle.run.runId;
  const found = runsOf(bundle).find(({ run }) => isNamed(run.runId, { root, name }));
  if (found !== undefined) return aloneOf(bundle, found);
  throw noSuchMember(
    root,
    name,
    (bundle.members ?? []).map(({ run }) => run.runId),
  );
}

export function isNamed(
  runId: string,
  { root, name }: { readonly root: string; readonly name: string },
): boolean {
  return runId === name || runId === `${root}:${name.replace(/^:/, '')}`;
}

export function noSuchMember(
  root: string,
  name: string,
  members: readonly string[],
): HoldfastError {
  const shown = members.slice(0, NAMED_MAX).map(shortened).join(', ');
  const more = members.length > NAMED_MAX ? ` and ${members.length - NAMED_MAX} more` : '';
  return new HoldfastError(
    'RunNotFound',
    `There is no run ${shortened(name)} below ${shortened(root)}.`,
    { hint: members.length === 0 ? 'No run is below it.' : `Below it are ${shown}${more}.` },
  );
}

/** What a reader is told before a reason: of which member it is. */
export function inMember(bundle: Bundle, { run }: BundledRun): string {
  return run.runId === bundle.run.runId ? '' : `in the member ${shortened(run.runId)}: `;
}

type TreeShape = Pick<Bundle, 'run' | 'absent'> & {
  readonly members?: readonly Pick<Member, 'run' | 'parent'>[];
};

/** Why the members are no tree below the root; their histories are not looked at. */
export function brokenTree({
  run: root,
  members = [],
  absent = [],
}: TreeShape): string | undefined {
  const depths = new Map([[root.runId, 0]]);
  for (const { run, parent } of members) {
    const what = `the member ${shortened(run.runId)}`;
    if (run.runId === parent) return `${what} names itself as its parent`;
    if (depths.has(run.runId)) return `${what} is in it twice`;
    const above = depths.get(parent);
    if (above === undefined) {
      return `${what} does not come after its parent ${shortened(parent)}`;
    }
    if (above >= DEPTH_MAX) return `${what} is more than ${DEPTH_MAX} generations below the root`;
    if (run.tenant !== root.tenant) return `${what} is of another tenant`;
    depths.set(run.runId, above + 1);
  }
  const known = new Set(depths.keys());
  for (const { runId, parent } of absent) {
    if (known.has(runId) || !known.has(parent)) return `${shortened(runId)} cannot be missing`;
    known.add(runId);
  }
  return undefined;
}

/** The start of its history says so. Histories have been found right. */
export function isChildOf([first]: readonly Segment[], parent: string): boolean {
  return parentIn(first?.events[0]) === parent;
}

/** Run id of the run that started the one whose history begins so; undefined: none did. */
export function parentIn(begun: HistoryEvent | undefined): string | undefined {
  const started = attributesOf(begun, 'workflowExecutionStarted');
  const start = parseStart(argumentsOf(started.input)[0]);
  return start.ok ? start.value.parent?.id : undefined;
}

function shortened(id: string): string {
  return id.slice(0, ID_CHARS_MAX);
}
