/**
 * Names that follow from content: hashes of messages and large texts, digests of calls.
 * Invariant: after a redaction they are those of the new content, so that the bundle still proves itself and
 * nobody can try hidden texts out against an old digest.
 */
import { callDigest, canonicalJson, sha256Hex, type Json } from '../../core/json/json.js';
import {
  argumentsOf,
  attributesOf,
  isObject,
  textAt,
  type HistoryEvent,
  type JsonObject,
} from '../../recording/history.js';
import { isDigest } from '../digest-renames.js';
import { documentsOf } from './documents.js';
import { keyedOf, recordedRuns, type Recorded, type Shelf } from './recorded.js';
import { rewrite, rewriteRecorded } from './rewrite.js';

type Names = ReadonlyMap<string, string>;

const HASHES = /[0-9a-f]{64}/g;
/** Names under which a digest of a call stands beside its arguments. */
const DIGEST_NAMES = ['digest', 'argsHash'] as const;

export interface Renaming {
  /** As it was. */
  readonly recorded: Recorded;
  /** With texts replaced, everything in the same place. */
  readonly replaced: Recorded;
  /** Thrown away. */
  readonly salt: string;
}

export async function renamedContent(renaming: Renaming, shelf: Shelf): Promise<Recorded> {
  const { recorded, replaced, salt } = renaming;
  const names = new Map<string, string>();
  for (const digest of await startDigests(recorded)) {
    names.set(digest, sha256Hex(`${salt}:${digest}`));
  }
  const blobs = await shelf.keyed(renamedTexts(replaced, names));
  for (const [before, after] of await callDigests(recorded, replaced, names)) {
    names.set(before, after);
  }
  const nodes = await shelf.keyed(renamedNodes(replaced, names));
  return { ...(await renamed(replaced, names, shelf)), nodes, blobs };
}

/** Adds to `names`. */
async function* renamedTexts(
  { blobs }: Recorded,
  names: Map<string, string>,
): AsyncGenerator<readonly [string, string], void> {
  for await (const [hash, text] of blobs) {
    const now = sha256Hex(text);
    if (now !== hash) names.set(hash, now);
    yield [now, text];
  }
}

/** Parents before children: a node's name depends on its parent's. Adds to `names`. */
async function* renamedNodes(
  { nodes }: Recorded,
  names: Map<string, string>,
): AsyncGenerator<readonly [string, JsonObject], void> {
  const open = new Set(nodes.names);
  while (open.size > 0) {
    const { size } = open;
    for await (const [hash, node] of keyedOf([...open], nodes.get)) {
      const parent = textAt(node, 'parent');
      if (parent !== undefined && open.has(parent)) continue;
      open.delete(hash);
      const now = rewrite(node, { text: (text) => withNames(text, names) }) as JsonObject;
      const name = sha256Hex(canonicalJson(now));
      if (name !== hash) names.set(hash, name);
      yield [name, now];
    }
    // A circle cannot be made of hashes; a bundle that claims one is left as it is.
    if (open.size === size) return;
  }
}

/** Everywhere but in messages and large texts: in texts and in names. */
export async function renamed(recorded: Recorded, names: Names, shelf: Shelf): Promise<Recorded> {
  const rename = (text: string): string => withNames(text, names);
  const { nodes, blobs, ...rest } = recorded;
  const now = await rewriteRecorded(rest, { text: rename, name: rename }, shelf);
  return { ...now, nodes, blobs };
}

function withNames(text: string, names: Names): string {
  return names.get(text) ?? text.replaceAll(HASHES, (hash) => names.get(hash) ?? hash);
}

/**
 * Of what sub-agents and cycles were told: the whole start lies in the store, so that nothing here proves its digest, and
 * hidden texts could be tried out against it.
 */
async function startDigests(recorded: Recorded): Promise<ReadonlySet<string>> {
  const digests = new Set<string>();
  const segments = recordedRuns(recorded).flatMap((run) => run.segments);
  for (const { events } of segments) {
    for await (const event of events) startDigestsIn(event).forEach((one) => digests.add(one));
  }
  return digests;
}

function startDigestsIn(event: HistoryEvent): readonly string[] {
  const starts = [
    ...argumentsOf(attributesOf(event, 'startChildWorkflowExecutionInitiated').input),
    ...argumentsOf(attributesOf(event, 'workflowExecutionStarted').input),
  ];
  return starts.map((start) => textAt(start, 'parent', 'digest')).filter(isDigest);
}

interface CallPlace {
  readonly tool: string;
  readonly args: Json;
  readonly digest: string;
}

/** A digest of a call whose arguments have changed, and what it is now. */
async function callDigests(recorded: Recorded, replaced: Recorded, blobs: Names): Promise<Names> {
  const names = new Map<string, string>();
  const versions = await toolVersions(recorded);
  const after = callsIn(replaced);
  for await (const { tool, args, digest } of callsIn(recorded)) {
    const next = await after.next();
    if (next.done === true) break;
    const now = next.value;
    const nowArgs = rewrite(now.args, { text: (text) => withNames(text, blobs) });
    if (canonicalJson(args) === canonicalJson(nowArgs)) continue;
    const toolVersion = [...(versions.get(tool) ?? [])].find(
      (version) => callDigest({ tool, toolVersion: version, args }) === digest,
    );
    if (toolVersion === undefined) continue;
    names.set(digest, callDigest({ tool: now.tool, toolVersion, args: nowArgs }));
  }
  return names;
}

async function* callsIn(recorded: Recorded): AsyncGenerator<CallPlace, void> {
  for await (const document of documentsOf(recorded)) {
    const calls: CallPlace[] = [];
    visit(document, (value) => {
      const tool = textAt(value, 'tool');
      const { args } = value;
      if (tool === undefined || args === undefined) return;
      for (const name of DIGEST_NAMES) {
        const digest = textAt(value, name);
        if (digest !== undefined) calls.push({ tool, args, digest });
      }
    });
    yield* calls;
  }
}

/** Versions under which each tool is known. */
async function toolVersions(recorded: Recorded): Promise<ReadonlyMap<string, ReadonlySet<string>>> {
  const versions = new Map<string, Set<string>>();
  for await (const document of documentsOf(recorded)) {
    visit(document, (value) => {
      const [tool, version] = [
        textAt(value, 'tool') ?? textAt(value, 'name'),
        textAt(value, 'toolVersion') ?? textAt(value, 'version'),
      ];
      if (tool === undefined || version === undefined) return;
      versions.set(tool, (versions.get(tool) ?? new Set()).add(version));
    });
  }
  return versions;
}

function visit(value: Json, see: (object: JsonObject) => void): void {
  if (typeof value !== 'object' || value === null) return;
  if (isObject(value)) see(value);
  for (const inner of Object.values(value)) visit(inner as Json, see);
}
