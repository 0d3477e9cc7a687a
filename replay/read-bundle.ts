/**
 * Reads bundles, strictly: a file that is cut off, changed, of a newer format or no bundle at all is refused
 * with the reason. Errors: `InvalidBundle`.
 */
import { readFile, stat } from 'node:fs/promises';
import { promisify } from 'node:util';
import { gunzip, type ZlibOptions } from 'node:zlib';
import type { z } from 'zod';
import { canonicalJson, type Json } from '../core/json/json.js';
import { isRecord } from '../core/json/shape.js';
import { HoldfastError } from '../core/state/errors.js';
import { parseJsonText } from '../pure/json-text.js';
import {
  BUNDLE_BYTES_MAX,
  BUNDLE_FORMAT,
  BUNDLE_VERSION,
  bundleDigest,
  type Bundle,
} from './bundle.js';
import { brokenContent } from './broken-content.js';
import { aloneDocument, treeDocument } from './bundle-schema.js';
import { brokenHistory } from './broken-history.js';
import { brokenChain } from '../recording/chain.js';
import { sha256OfText } from './sha256.js';
import { collected } from './stream/collect.js';
import { brokenTree, inMember, MEMBERS_MAX, runsOf } from './tree.js';

const PROBLEMS_SHOWN = 5;
const NAME_CHARS_MAX = 200;

/** Reads a run that `holdfast export` has written. Errors: InvalidBundle, which says what is wrong. */
export async function readBundle(file: string): Promise<Bundle> {
  return (await collected(file)) ?? readWhole(file);
}

/** Whatever its form: with all of its text at hand, as files of older releases need it, and as errors name their place. */
export async function readWhole(file: string): Promise<Bundle> {
  const facts = await stat(file).catch(() => undefined);
  if (facts === undefined) throw invalidBundle(file, 'it does not exist');
  if (!facts.isFile()) {
    const hint = facts.isDirectory() ? 'Replay a folder with `holdfast bundles`.' : undefined;
    throw invalidBundle(file, 'it is no file', hint);
  }
  if (facts.size > BUNDLE_BYTES_MAX) {
    throw invalidBundle(file, `it is larger than ${BUNDLE_BYTES_MAX} bytes`);
  }
  const bytes = await readFile(file).catch((cause: unknown) => {
    throw invalidBundle(file, cause instanceof Error ? cause.message : 'it cannot be read');
  });
  return parseBundle((await unpacked(bytes, file)).toString('utf8'), file);
}

const GZIP_MAGIC = [0x1f, 0x8b] as const;

/** What is packed says so by its first bytes, whatever its name; a bomb is stopped at the size that a bundle may have. */
async function unpacked(bytes: Buffer, file: string): Promise<Buffer> {
  if (bytes[0] !== GZIP_MAGIC[0] || bytes[1] !== GZIP_MAGIC[1]) return bytes;
  return promisify<Buffer, ZlibOptions, Buffer>(gunzip)(bytes, {
    maxOutputLength: BUNDLE_BYTES_MAX,
  }).catch((cause: unknown) => {
    const isLarge = (cause as NodeJS.ErrnoException).code === 'ERR_BUFFER_TOO_LARGE';
    const reason = isLarge
      ? `it unpacks to more than ${BUNDLE_BYTES_MAX} bytes`
      : 'it is cut off or damaged: it cannot be unpacked';
    throw invalidBundle(file, reason);
  });
}

/** `file` is what messages call it. */
export function parseBundle(text: string, file: string): Bundle {
  if (text.trim() === '') throw invalidBundle(file, 'it is empty');
  const parsed = parseJsonText(text);
  if (!parsed.ok) {
    const place = `line ${parsed.line}, column ${parsed.column}`;
    throw invalidBundle(file, `it is cut off or damaged: ${place}: ${parsed.reason}`);
  }
  refuseOthers(parsed.value, file);
  refuseCrowd(parsed.value, file);
  const isTree = isRecord(parsed.value) && parsed.value.v === 2;
  const checked = (isTree ? treeDocument : aloneDocument).safeParse(parsed.value);
  if (!checked.success) throw invalidBundle(file, problemsOf(checked.error));
  // A name such as `__proto__` is no hash and no key that the schema knows, so nothing was passed over.
  const { format, v, digest, ...content } = parsed.value as Bundle &
    Pick<z.infer<typeof treeDocument>, 'format' | 'v' | 'digest'>;
  const bundle: Bundle = content;
  try {
    if (bundleDigest({ format, v, ...bundle }) !== digest) {
      throw invalidBundle(file, 'its content does not have the digest that it was written with');
    }
    checkContent(bundle, file);
  } catch (error) {
    if (error instanceof HoldfastError) throw error;
    // Values nested deeper than the call stack; else numbers that JSON reads, and cannot write.
    const reason =
      error instanceof RangeError
        ? 'it is nested too deeply'
        : 'it has a value that JSON cannot write';
    throw invalidBundle(file, reason);
  }
  return bundle;
}

/** What is no bundle, or one of a later format, is said before its details. */
function refuseOthers(value: unknown, file: string): void {
  const { format, v } = (value ?? {}) as { readonly format?: unknown; readonly v?: unknown };
  if (format !== BUNDLE_FORMAT) throw invalidBundle(file, 'it is no bundle of a run');
  if (typeof v !== 'number' || v <= BUNDLE_VERSION) return;
  throw invalidBundle(
    file,
    `it has format ${v}, and this release reads up to ${BUNDLE_VERSION}`,
    'Replay it with the release that exported it, or a newer one.',
  );
}

/** Thousands of members are refused before each of them is looked at. */
function refuseCrowd(value: unknown, file: string): void {
  const members = isRecord(value) ? value.members : undefined;
  if (!Array.isArray(members) || members.length <= MEMBERS_MAX) return;
  throw invalidBundle(
    file,
    `it has ${members.length} members, and a bundle has at most ${MEMBERS_MAX}`,
  );
}

function checkContent(bundle: Bundle, file: string): void {
  const wrong = brokenTree(bundle);
  if (wrong !== undefined) throw invalidBundle(file, wrong);
  for (const run of runsOf(bundle)) {
    const broken = brokenRecord(run.segments);
    if (broken !== undefined) throw invalidBundle(file, `${inMember(bundle, run)}${broken}`);
  }
  for (const [name, node] of Object.entries(bundle.nodes)) {
    if (sha256OfText(canonicalJson(node as Json)) === name) continue;
    throw invalidBundle(file, `the message ${name} is not what its hash says`);
  }
  for (const [name, text] of Object.entries(bundle.blobs)) {
    if (sha256OfText(text) !== name)
      throw invalidBundle(file, `the text ${name} is not what its hash says`);
  }
  const other = brokenContent(bundle);
  if (other !== undefined) throw invalidBundle(file, other);
}

/** Chain and histories of one run. */
function brokenRecord(segments: Bundle['segments']): string | undefined {
  const broken = brokenChain(segments);
  if (broken !== undefined) return broken;
  for (const { segment, events } of segments) {
    const reason = brokenHistory(events);
    if (reason !== undefined) return `segment ${segment}, ${reason}`;
  }
  return undefined;
}

function problemsOf(error: z.ZodError): string {
  return error.issues
    .slice(0, PROBLEMS_SHOWN)
    .map(({ path, message }) => `${path.join('.').slice(0, NAME_CHARS_MAX)}: ${message}`)
    .join('; ');
}

function invalidBundle(
  file: string,
  reason: string,
  hint = 'Export the run again with `holdfast export`.',
): HoldfastError {
  return new HoldfastError(
    'InvalidBundle',
    `${file.slice(-NAME_CHARS_MAX)} cannot be used: ${reason}.`,
    {
      hint,
      details: { file },
    },
  );
}
