/**
 * The text of a bundle in pieces, with its digest made of them.
 * Invariant: the keys stand in the order of the canonical form (RFC 8785), but for the digest, which comes last. So the
 * digest is that of the bytes before it, and any reader of this format takes the file, whatever order it expects.
 */
import { createHash } from 'node:crypto';
import { canonicalJson, type Json } from '../../core/json/json.js';
import { ALONE_VERSION, BUNDLE_BYTES_MAX, BUNDLE_FORMAT, BUNDLE_VERSION } from '../bundle.js';
import type {
  BundleSource,
  Hashed,
  MemberSource,
  Pieces,
  RunSource,
  SegmentSource,
} from './bundle-source.js';
import { tooLargeBundle } from './too-large.js';

const PIECE_BYTES = 64 * 1024;

/** Errors: `InvalidBundle` for more than BUNDLE_BYTES_MAX, and those of the source. */
export async function* bundlePieces(source: BundleSource): AsyncGenerator<Buffer, void> {
  const digest = createHash('sha256');
  let total = 0;
  for await (const piece of gathered(openForm(bundleParts(source)))) {
    total += piece.length;
    if (total > BUNDLE_BYTES_MAX) throw tooLargeBundle();
    digest.update(piece);
    yield piece;
  }
  const end = `,"digest":"${digest.update('}').digest('hex')}"}\n`;
  if (total + end.length > BUNDLE_BYTES_MAX) throw tooLargeBundle();
  yield Buffer.from(end, 'utf8');
}

/** Canonical forms by name; undefined: the name is not there. */
interface Parts {
  readonly [name: string]: Pieces | undefined;
}

function bundleParts(source: BundleSource): Parts {
  const { members, absent, redactions, exportedAt } = source;
  const isAlone = members === undefined && absent === undefined;
  return {
    ...runParts(source),
    format: valueForm(BUNDLE_FORMAT),
    v: valueForm(isAlone ? ALONE_VERSION : BUNDLE_VERSION),
    exportedAt: valueForm(exportedAt),
    redactions: valueForm(redactions as unknown as Json),
    nodes: hashedForm(source.nodes()),
    blobs: hashedForm(source.blobs()),
    members: members && listOf(members.map((one) => wholeForm(memberParts(one)))),
    absent: absent && valueForm(absent as unknown as Json),
  };
}

function memberParts(member: MemberSource): Parts {
  const { parent, agentPath } = member;
  return {
    ...runParts(member),
    parent: valueForm(parent),
    agentPath: agentPath && valueForm(agentPath),
  };
}

function runParts(source: RunSource): Parts {
  const { run, versions, segments } = source;
  return {
    run: valueForm({ ...run }),
    versions: valueForm(versions as unknown as Json),
    segments: listOf(segments.map((one) => wholeForm(segmentParts(one)))),
    events: source.events(),
  };
}

function segmentParts(one: SegmentSource): Parts {
  const { segment, execution, source } = one;
  return {
    segment: valueForm(segment),
    execution: valueForm(execution),
    source: valueForm(source),
    events: one.events(),
  };
}

function valueForm(value: Json): Pieces {
  return [canonicalJson(value)];
}

type Text = AsyncGenerator<string | Uint8Array, void>;

/** An object without its last brace; it has a member at least. */
async function* openForm(parts: Parts): Text {
  let before = '{';
  for (const name of Object.keys(parts).toSorted()) {
    const part = parts[name];
    if (part === undefined) continue;
    yield `${before}${JSON.stringify(name)}:`;
    yield* part;
    before = ',';
  }
}

async function* wholeForm(parts: Parts): Text {
  yield* openForm(parts);
  yield '}';
}

async function* listOf(forms: readonly Pieces[]): Text {
  yield '[';
  for (const [index, form] of forms.entries()) {
    if (index > 0) yield ',';
    yield* form;
  }
  yield ']';
}

async function* hashedForm(values: AsyncIterable<Hashed> | Iterable<Hashed>): Text {
  let before = '{';
  for await (const { hash, form } of values) {
    yield `${before}${JSON.stringify(hash)}:`;
    yield* form;
    before = ',';
  }
  yield before === '{' ? '{}' : '}';
}

/** A write for each word would take longer than what it writes. */
async function* gathered(text: Text): AsyncGenerator<Buffer, void> {
  let waiting: Buffer[] = [];
  let bytes = 0;
  for await (const piece of text) {
    const one = typeof piece === 'string' ? Buffer.from(piece, 'utf8') : Buffer.from(piece);
    waiting.push(one);
    bytes += one.length;
    if (bytes < PIECE_BYTES) continue;
    yield Buffer.concat(waiting);
    waiting = [];
    bytes = 0;
  }
  yield Buffer.concat(waiting);
}
