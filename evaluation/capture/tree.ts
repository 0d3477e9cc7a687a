/** The runs below a recorded one: each member of the tree as a recording of its own, with its place below the root. */
import type { Frozen } from '../../core/state/frozen.js';
import { HANDOFF_TOOL } from '../../core/state/handoff.js';
import { MESSAGE_TOOL } from '../../core/state/mail.js';
import { AGENT_TOOL } from '../../core/state/sub-agent.js';
import type { ToolRecord } from '../../core/state/tool.js';
import type { TranscriptNode } from '../../core/state/transcript.js';
import type { Bundle } from '../../replay/bundle.js';
import { aloneOf } from '../../replay/tree.js';
import { ofKind, outputOf, recordingOf, type Recording } from './recording.js';
import { refused } from './refused.js';

export interface Member {
  /** Behind the id of the root: `a2:a1`; of the root empty. */
  readonly place: string;
  /** As whoever started it calls it. */
  readonly name: string;
  readonly recording: Recording;
}

export interface Tree {
  readonly root: Recording;
  /** Without the root, each behind its parent. */
  readonly members: readonly Member[];
}

/** Errors: `CaptureRefused`, also for a run that was started and is not in the bundle. */
export function treeOf(bundle: Bundle): Tree {
  const root = recordingOf(aloneOf(bundle, bundle));
  const members = (bundle.members ?? []).map((member): Member => {
    const recording = recordingOf(aloneOf(bundle, member));
    const { lineage, agent } = recording.frozen;
    const place = member.run.runId.slice(bundle.run.runId.length + 1);
    return { place, name: lineage?.path.at(-1) ?? agent.name, recording };
  });
  const known = new Set((bundle.members ?? []).map(({ run }) => run.runId));
  for (const { recording } of allOf({ root, members })) {
    const missing = startedBy(recording).find((runId) => !known.has(runId));
    if (missing === undefined) continue;
    const hint = 'Export the run with everything below it: `holdfast export RUN`.';
    throw refused(`the bundle lacks the run ${missing}, which it started`, hint);
  }
  return { root, members };
}

/** The root first. */
export function allOf({ root, members }: Tree): readonly Member[] {
  return [{ place: '', name: root.frozen.agent.name, recording: root }, ...members];
}

function startedBy(recording: Recording): readonly string[] {
  const below = [...ofKind(recording, 'prepare_child'), ...ofKind(recording, 'prepare_handoff')];
  return below.flatMap(({ activity: { end }, input }) => {
    const output = end.kind === 'completed' ? (end.output as { readonly start?: unknown }) : {};
    return output.start === undefined ? [] : [input.child];
  });
}

/** What a run was at work under: its first agent, then those to whom it was handed over. */
export interface Employed {
  readonly frozen: Frozen;
  readonly root: TranscriptNode;
}

export function employedIn(recording: Recording): readonly Employed[] {
  const { bundle, frozen, root } = recording;
  const later = ofKind(recording, 'open_run').flatMap(({ activity }): readonly Employed[] => {
    const output = outputOf(activity, 'open_run');
    if (output?.handedOver === undefined || output.frozen === undefined) return [];
    const node = bundle.nodes[output.frozen.prompt.hash];
    if (node === undefined) throw refused('the bundle lacks the prompt of an agent');
    return [{ frozen: output.frozen, root: node as unknown as TranscriptNode }];
  });
  return [{ frozen, root }, ...later];
}

/** Without what agents have by themselves. Who asks before such a tool is called has said more of it. */
export function ownToolsIn({ tools, handoffTo = [] }: Frozen): readonly ToolRecord[] {
  return tools.filter(({ kind, name, startsAgent, approval }) => {
    if (approval !== 'never' && approval !== 'by_policy') return true;
    if (kind === 'subagent') return name !== AGENT_TOOL || startsAgent !== undefined;
    return name !== HANDOFF_TOOL || kind !== 'handoff' || handoffTo.length === 0;
  });
}

/** Letters are delivered as they were: by the runtime. */
export function isLetters({ name }: ToolRecord): boolean {
  return name === MESSAGE_TOOL;
}
