/**
 * Pinned evidence: what the tools returned that an answer needs. It lies in the run, outside the
 * conversation, so that no summary can lose it (G78).
 * Invariant: bounded, however many tools a task names (R1).
 */
import { PREVIEW_CHARS, type StoredText } from '../json/json.js';
import type { OpenRun, PinnedResult } from '../state/run.js';

/** Characters of all pinned texts that lie in the run itself. */
const PINNED_CHARS_MAX = 8_192;

/** Keeps results, each in the place of the one before it; a result that proves something keeps its place. */
export function pin(run: OpenRun, results: readonly PinnedResult[], places: number): OpenRun {
  const share = Math.floor(PINNED_CHARS_MAX / places);
  const fresh = results.map((one) => ({ ...one, content: withinShare(one.content, share) }));
  const others = (run.pinned ?? []).filter(
    (old) => !fresh.some(({ tool, proof }) => old.tool === tool && old.proof === proof),
  );
  return { ...run, pinned: [...others, ...fresh] };
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
export function pinnedTexts(run: OpenRun): PinnedTexts {
  const pinned = onceEach(run.pinned ?? []);
  const inRun = pinned.flatMap((one) =>
    'text' in one.content ? [`${labelOf(one)}\n${one.content.text}`] : [],
  );
  const inStore = pinned.filter(({ content }) => !('text' in content));
  if (inStore.length === 0) return { pinned: inRun };
  const pinnedRefs = inStore.map((one) => ({ label: labelOf(one), content: one.content }));
  return { pinned: inRun, pinnedRefs };
}

/** A result that is a proof may be the newest of its tool as well. */
function onceEach(pinned: readonly PinnedResult[]): readonly PinnedResult[] {
  return pinned.filter((one, index) => pinned.findIndex((other) => isSame(one, other)) === index);
}

function isSame(one: PinnedResult, other: PinnedResult): boolean {
  return one.tool === other.tool && textOf(one) === textOf(other);
}

function textOf({ content }: PinnedResult): string {
  return 'text' in content ? `text ${content.text}` : content.$blob;
}

function labelOf({ tool, proof }: PinnedResult): string {
  return proof === undefined ? `What ${tool} returned:` : `What ${tool} returned (${proof}):`;
}
