/**
 * Pinned evidence: what the tools returned that an answer needs. It lies in the run, outside the
 * conversation, so that no summary can lose it (G78).
 * Invariant: bounded, however many tools a task names (R1).
 */
import { PREVIEW_CHARS, type StoredText } from '../json/json.js';
import type { OpenRun, PinnedResult } from '../state/run.js';

/** Characters of all pinned texts that lie in the run itself. */
const PINNED_CHARS_MAX = 8_192;

/** Notes a result that the task declares as evidence; a tool's newest one counts. */
export function pinEvidence(run: OpenRun, tool: string, content: StoredText): OpenRun {
  const needed = new Set((run.start.task.requiredEvidence ?? []).map((one) => one.satisfiedBy));
  if (!needed.has(tool)) return run;
  const others = (run.pinned ?? []).filter((pinned) => pinned.tool !== tool);
  const share = Math.floor(PINNED_CHARS_MAX / needed.size);
  return { ...run, pinned: [...others, { tool, content: withinShare(content, share) }] };
}

function withinShare(content: StoredText, chars: number): StoredText {
  if (!('text' in content)) {
    return { ...content, preview: content.preview.slice(0, Math.min(chars, PREVIEW_CHARS)) };
  }
  return content.text.length <= chars
    ? content
    : { text: `${content.text.slice(0, chars)}\n[cut off: ${content.text.length} characters]` };
}

export interface PinnedTexts {
  readonly pinned: readonly string[];
  readonly pinnedRefs?: readonly { readonly label: string; readonly content: StoredText }[];
}

/** What is said beside a summary word for word. */
export function pinnedTexts({ pinned = [] }: OpenRun): PinnedTexts {
  const inRun = pinned.flatMap((one) =>
    'text' in one.content ? [`${labelOf(one)}\n${one.content.text}`] : [],
  );
  const inStore = pinned.filter(({ content }) => !('text' in content));
  if (inStore.length === 0) return { pinned: inRun };
  const pinnedRefs = inStore.map((one) => ({ label: labelOf(one), content: one.content }));
  return { pinned: inRun, pinnedRefs };
}

function labelOf({ tool }: PinnedResult): string {
  return `What ${tool} returned:`;
}
