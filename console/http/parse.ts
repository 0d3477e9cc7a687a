/**
 * What somebody sent, checked against the declaration of its route.
 * Invariants: nothing is read beyond the limit; a complaint names the field and never quotes its value, a field that is not known in bounds and inert; what
 * comes out is a value that JSON can hold.
 */
import type { z } from 'zod';
import { depthOf, SHAPE_DEPTH_MAX } from '../../core/json/json-depth.js';
import { Problem, type FieldFault } from './problem.js';

const FAULTS_MAX = 10;
const PATH_CHARS_MAX = 100;
const MESSAGE_CHARS_MAX = 200;
const UNKNOWN_MAX = 3;
const NAME_CHARS_MAX = 40;

export function parseFields(shape: z.ZodObject, fields: object): object {
  const parsed = shape.safeParse(fields);
  if (parsed.success) return parsed.data;
  throw invalid(parsed.error.issues);
}

export async function parseBody(
  shape: z.ZodType | undefined,
  request: Request,
  bytesMax: number,
): Promise<unknown> {
  if (shape === undefined) return undefined;
  const kind = request.headers.get('content-type') ?? '';
  if (!/^application\/json\s*(;|$)/i.test(kind)) {
    throw new Problem(415, { code: 'unsupported', detail: 'Send JSON (application/json).' });
  }
  const value = valueOf(await readText(request, bytesMax));
  if (depthOf(value) > SHAPE_DEPTH_MAX) throw notJson('The body nests too deeply.');
  if (!hasFiniteNumbers(value)) throw notJson('The body has a number that is too large.');
  const parsed = shape.safeParse(value);
  if (parsed.success) return parsed.data;
  throw invalid(parsed.error.issues);
}

async function readText(request: Request, bytesMax: number): Promise<string> {
  if (Number(request.headers.get('content-length') ?? 0) > bytesMax) throw tooLarge(bytesMax);
  if (request.body === null) return '';
  const parts: Uint8Array[] = [];
  let bytes = 0;
  for await (const part of request.body as unknown as AsyncIterable<Uint8Array>) {
    bytes += part.byteLength;
    // Whoever said less than they send is stopped here.
    if (bytes > bytesMax) throw tooLarge(bytesMax);
    parts.push(part);
  }
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(Buffer.concat(parts));
  } catch {
    throw notJson('The body is no UTF-8.');
  }
}

function valueOf(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    // Not the parser's words: they quote the body.
    throw notJson('The body is no JSON.');
  }
}

/** `1e999` is JSON, and becomes Infinity, which is none. Its depth has been checked. */
function hasFiniteNumbers(value: unknown): boolean {
  if (typeof value === 'number') return Number.isFinite(value);
  return (
    typeof value !== 'object' || value === null || Object.values(value).every(hasFiniteNumbers)
  );
}

function notJson(detail: string): Problem {
  return new Problem(400, { code: 'invalid', detail });
}

function tooLarge(bytesMax: number): Problem {
  const most = bytesMax.toLocaleString('en-US');
  return new Problem(413, {
    code: 'too_large',
    detail: `The request is too large: it may have at most ${most} bytes.`,
    hint: 'Send less, or have console.limits.bodyBytes raised.',
    headers: { connection: 'close' },
  });
}

function invalid(issues: readonly z.core.$ZodIssue[]): Problem {
  const errors = issues.slice(0, FAULTS_MAX).map(faultOf);
  return new Problem(400, { code: 'invalid', detail: 'Some fields are not valid.', errors });
}

/** Messages of the schema library name types and limits, and quote whole names of unknown fields. */
function faultOf(issue: z.core.$ZodIssue): FieldFault {
  const path = issue.path.map(String).join('.').slice(0, PATH_CHARS_MAX);
  const message = issue.code === 'unrecognized_keys' ? unknownIn(issue.keys) : issue.message;
  return { path, message: message.slice(0, MESSAGE_CHARS_MAX) };
}

function unknownIn(names: readonly string[]): string {
  const shown = names.slice(0, UNKNOWN_MAX).map(nameShown);
  const more = names.length - shown.length;
  return `has unknown fields: ${shown.join(', ')}${more > 0 ? ` and ${more} more` : ''}`;
}

/** The sender chose it: whatever a terminal or a page obeys, or does not show, is taken out. */
function nameShown(name: string): string {
  const shown = name.slice(0, NAME_CHARS_MAX).replaceAll(/[\p{C}\p{Z}]/gu, '·');
  return `"${shown}${name.length > NAME_CHARS_MAX ? '…' : ''}"`;
}
