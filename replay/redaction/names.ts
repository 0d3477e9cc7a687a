/**
 * Names that follow from content: hashes of messages and large texts, digests of calls.
 * Invariant: after a redaction they are those of the new content, so that the bundle still proves itself and
 * nobody can try hidden texts out against an old digest.
 */
import { callDigest, canonicalJson, sha256Hex, type Json } from '../../core/json/json.js';
import type { Bundle } from '../bundle.js';
import {
  argumentsOf,
  attributesOf,
  isObject,
  textAt,
  type JsonObject,
} from '../../recording/history.js';
import { runsOf } from '../tree.js';
import { documentsOf } from './documents.js';
import { rewrite } from './rewrite.js';

type Names = ReadonlyMap<string, string>;

const HASHES = /[0-9a-f]{64}/g;
const DIGEST = /^[a-z]?[0-9a-f]{12,64}$/;
/** Names under which a digest of a call stands beside its arguments. */
const DIGEST_NAMES = ['digest', 'argsHash'] as const;

/** What the core calls a digest: shortened ones and those with a letter before them included. */
export function isDigest(value: Json | undefined): value is string {
  return typeof value === 'string' && DIGEST.test(value);
}

/** `replaced` is `bundle` with texts replaced, everything in the same place; `salt` is thrown away. */
export function renamedContent(bundle: Bundle, replaced: Bundle, salt: string): Bundle {
  const names = new Map<string, string>();
  for (const digest of startDigests(bundle)) names.set(digest, sha256Hex(`${salt}:${digest}`));
  const blobs = new Map<string, string>();
  for (const [hash, text] of Object.entries(replaced.blobs)) {
    const now = sha256Hex(text);
    if (now !== hash) names.set(hash, now);
    blobs.set(now, text);
  }
  for (const [before, after] of callDigests(bundle, replaced, names)) names.set(before, after);
  const nodes = renamedNodes(replaced, names);
  return {
    ...renaming({ ...replaced, nodes: {}, blobs: {} }, names),
    nodes,
    blobs: Object.fromEntries(blobs),
  };
}

/** Parents before children: a node's name depends on its parent's. Adds to `names`. */
function renamedNodes({ nodes }: Bundle, names: Map<string, string>): Bundle['nodes'] {
  const renamed = new Map<string, JsonObject>();
  let waiting = Object.entries(nodes);
  const open = new Set(Object.keys(nodes));
  while (waiting.length > 0) {
    const later: [string, JsonObject][] = [];
    for (const [hash, node] of waiting) {
      const parent = textAt(node, 'parent');
      if (parent !== undefined && open.has(parent)) {
        later.push([hash, node]);
        continue;
      }
      open.delete(hash);
      const now = rewrite(node, { text: (text) => withNames(text, names) }) as JsonObject;
      const name = sha256Hex(canonicalJson(now));
      if (name !== hash) names.set(hash, name);
      renamed.set(name, now);
    }
    // A circle cannot be made of hashes; a bundle that claims one is left as it is.
    if (later.length === waiting.length) break;
    waiting = later;
  }
  return Object.fromEntries(renamed);
}

/** Everywhere, in texts and in names. */
export function renaming(bundle: Bundle, names: Names): Bundle {
  if (names.size === 0) return bundle;
  const rename = (text: string): string => withNames(text, names);
  const { nodes, blobs, ...rest } = bundle;
  const renamed = rewrite(rest as unknown as Json, { text: rename, name: rename });
  return { ...(renamed as unknown as Bundle), nodes, blobs };
}

function withNames(text: string, names: Names): string {
  return names.get(text) ?? text.replaceAll(HASHES, (hash) => names.get(hash) ?? hash);
}

/**
 * Of what sub-agents and cycles were told: the whole start lies in the store, so that nothing here proves its digest, and
 * hidden texts could be tried out against it.
 */
function startDigests(bundle: Bundle): ReadonlySet<string> {
  const digests = new Set<string>();
  const starts = runsOf(bundle).flatMap(({ segments }) =>
    segments.flatMap(({ events }) =>
      events.flatMap((event) => [
        ...argumentsOf(attributesOf(event, 'startChildWorkflowExecutionInitiated').input),
        ...argumentsOf(attributesOf(event, 'workflowExecutionStarted').input),
      ]),
    ),
  );
  for (const start of starts) {
    const digest = textAt(start, 'parent', 'digest');
    if (isDigest(digest)) digests.add(digest);
  }
  return digests;
}

interface CallPlace {
  readonly tool: string;
  readonly args: Json;
  readonly digest: string;
}

/** A digest of a call whose arguments have changed, and what it is now. */
function callDigests(bundle: Bundle, replaced: Bundle, blobs: Names): Names {
  const names = new Map<string, string>();
  const before = callsIn(documentsOf(bundle));
  const after = callsIn(documentsOf(replaced));
  const versions = toolVersions(documentsOf(bundle));
  for (const [index, { tool, args, digest }] of before.entries()) {
    const now = after[index]!;
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

function callsIn(documents: readonly Json[]): readonly CallPlace[] {
  const calls: CallPlace[] = [];
  visit(documents, (value) => {
    const tool = textAt(value, 'tool');
    const { args } = value;
    if (tool === undefined || args === undefined) return;
    for (const name of DIGEST_NAMES) {
      const digest = textAt(value, name);
      if (digest !== undefined) calls.push({ tool, args, digest });
    }
  });
  return calls;
}

/** Versions under which each tool is known. */
function toolVersions(documents: readonly Json[]): ReadonlyMap<string, ReadonlySet<string>> {
  const versions = new Map<string, Set<string>>();
  visit(documents, (value) => {
    const [tool, version] = [
      textAt(value, 'tool') ?? textAt(value, 'name'),
      textAt(value, 'toolVersion') ?? textAt(value, 'version'),
    ];
    if (tool === undefined || version === undefined) return;
    versions.set(tool, (versions.get(tool) ?? new Set()).add(version));
  });
  return versions;
}

function visit(value: Json, see: (object: JsonObject) => void): void {
  if (typeof value !== 'object' || value === null) return;
  if (isObject(value)) see(value);
  for (const inner of Object.values(value)) visit(inner as Json, see);
}
