/**
 * Exports a run, or its tree, with hidden texts, without holding more than two of its histories: what was read lies on a
 * disk, and each step of the redaction looks at it anew.
 * Invariant: the bundle is the one that `redactBundle` makes of what `exportRun` or `exportTree` gives.
 */
import type { Json } from '../../core/json/json.js';
import type { Bundle } from '../bundle.js';
import { below, type ExportPlace, type RecordedTree } from '../export-run.js';
import { documentsOf } from '../redaction/documents.js';
import { redactRecorded, type RedactionOptions } from '../redaction/redact-bundle.js';
import type { Recorded, RecordedRun, Shelf, Values } from '../redaction/recorded.js';
import type { RedactionRule } from '../redaction/rules.js';
import { referencesIn } from '../references.js';
import { sourceOfRecorded } from './bundle-source.js';
import { keptTree, type KeptRun } from './record-run.js';
import { shelvedConversation } from './shelved-conversation.js';
import type { SpooledExport, StreamOptions } from './spooled-export.js';
import { openSpooledShelf } from './spooled-shelf.js';
import { RECORD_BYTES_MAX } from './too-large.js';

export interface RedactedOptions extends StreamOptions, RedactionOptions {
  readonly rules: readonly RedactionRule[];
  /** ms since epoch; default: now. */
  readonly exportedAt?: number;
}

/** `look` is shown what is left. Errors: those of `exportTree`, `RedactionRefused`. */
export async function openRedactedExport(
  place: ExportPlace,
  run: Bundle['run'],
  options: RedactedOptions,
): Promise<SpooledExport> {
  const { folder, rules, look } = options;
  const shelves: Shelf[] = [];
  async function openShelf(bytesMax?: number): Promise<Shelf> {
    const shelf = await openSpooledShelf(folder, bytesMax);
    shelves.push(shelf);
    return shelf;
  }
  async function close(): Promise<void> {
    await Promise.allSettled(shelves.map((shelf) => shelf.close()));
  }
  try {
    const shelf = await openShelf(RECORD_BYTES_MAX);
    const { recorded, events } = await recordedOnto(shelf, place, { ...options, run });
    const redacted = await redactRecorded(recorded, rules, {
      ...options,
      openShelf: () => openShelf(),
    });
    if (look !== undefined) for await (const value of documentsOf(redacted)) look(value);
    const counts = {
      events,
      nodes: redacted.nodes.names.length,
      blobs: redacted.blobs.names.length,
    };
    return { source: sourceOfRecorded(redacted), counts: () => counts, close };
  } catch (error) {
    await close();
    throw error;
  }
}

type Kept = KeptRun<Values<Json>>;

async function recordedOnto(
  shelf: Shelf,
  place: ExportPlace,
  {
    run,
    alone,
    exportedAt = Date.now(),
  }: Pick<RedactedOptions, 'alone' | 'exportedAt'> & Pick<Bundle, 'run'>,
): Promise<{ readonly recorded: Recorded; readonly events: number }> {
  const tree: RecordedTree<Kept> = await keptTree(
    place,
    { run, alone },
    {
      keep: (values) => shelf.list(values),
      inHistory: referencesIn,
      inEvents: (events) => referencesIn([events]),
    },
  );
  const { root, members, absent } = tree;
  // In the order in which `gather` meets them.
  const referred = [root, ...members].flatMap((one) => [
    ...one.referred.histories,
    ...one.referred.events.toReversed(),
  ]);
  const { store } = place;
  const conversation = await shelvedConversation({ store, tenant: run.tenant, shelf }, referred);
  const shelved = members.map((member) => ({
    ...runOf(member),
    parent: member.parent,
    ...(member.agentPath !== undefined && { agentPath: member.agentPath }),
  }));
  const recorded = {
    ...runOf(root),
    exportedAt,
    ...conversation,
    redactions: [],
    ...below(shelved, absent),
  };
  return { recorded, events: root.eventCount };
}

function runOf({ run, versions, segments, events }: Kept): RecordedRun {
  return { run, versions, segments, events } as unknown as RecordedRun;
}
