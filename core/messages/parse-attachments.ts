/** Parses references to attachments that come from outside: shape only. Whether their bytes are there, activities find out. */
import { ownValue } from '../json/json.js';
import { isRecord, isText, type Parsed } from '../json/shape.js';
import {
  ATTACHED_BYTES_MAX,
  ATTACHMENTS_MAX,
  ATTACHMENT_NAME_CHARS_MAX,
  fileBytes,
  kindOf,
  MEDIA_BYTES_MAX,
  MEDIA_TYPES,
  PAGES_MAX,
  SECONDS_MAX,
  TEXT_BYTES_MAX,
  type Attachment,
  type MediaType,
} from '../state/attachment.js';

const HASH = /^[0-9a-f]{64}$/;

/** undefined: there are none. */
export function parseAttachments(raw: unknown): Parsed<readonly Attachment[] | undefined> {
  if (raw === undefined) return { ok: true, value: undefined };
  if (!Array.isArray(raw) || raw.length > ATTACHMENTS_MAX)
    return fault(`attachments must be a list of at most ${ATTACHMENTS_MAX}`);
  const attachments: Attachment[] = [];
  for (const [at, one] of raw.entries()) {
    const parsed = parseAttachment(one);
    if (!parsed.ok) return fault(`attachments.${at}: ${parsed.reason}`);
    attachments.push(parsed.value);
  }
  const bytes = attachments.reduce((sum, one) => sum + fileBytes(one), 0);
  if (bytes > ATTACHED_BYTES_MAX)
    return fault(`attachments have ${bytes} bytes; ${ATTACHED_BYTES_MAX} are allowed`);
  return { ok: true, value: attachments.length === 0 ? undefined : attachments };
}

export function parseAttachment(raw: unknown): Parsed<Attachment> {
  if (!isRecord(raw)) return fault('it must be an object, as `attach` gives it');
  const [$blob, bytes, mediaType, name, pages, textBytes, seconds] = [
    '$blob',
    'bytes',
    'mediaType',
    'name',
    'pages',
    'textBytes',
    'seconds',
  ].map((field) => ownValue(raw, field));
  if (typeof $blob !== 'string' || !HASH.test($blob)) return fault('$blob must be a hash');
  if (!isMediaType(mediaType))
    return fault(`mediaType must be one of ${Object.keys(MEDIA_TYPES).join(', ')}`);
  const kind = kindOf({ mediaType });
  const bytesMax = MEDIA_BYTES_MAX[kind];
  if (!isCount(bytes, Number.MAX_SAFE_INTEGER) || fileBytes({ bytes }) > bytesMax + 3)
    return fault(`it has more than ${bytesMax} bytes`);
  if (name !== undefined && !isText(name, ATTACHMENT_NAME_CHARS_MAX))
    return fault(`name must be a text of at most ${ATTACHMENT_NAME_CHARS_MAX} characters`);
  if (!isFact(pages, kind === 'document', PAGES_MAX))
    return fault(`pages of a document must be 1 to ${PAGES_MAX}`);
  if (!isFact(textBytes, false, TEXT_BYTES_MAX))
    return fault(`textBytes must be 1 to ${TEXT_BYTES_MAX}`);
  if (!isFact(seconds, kind === 'sound', SECONDS_MAX))
    return fault(`seconds of a sound must be 1 to ${SECONDS_MAX}`);
  const value: Attachment = {
    $blob,
    bytes,
    mediaType,
    ...(name !== undefined && { name }),
    ...(pages !== undefined && { pages }),
    ...(textBytes !== undefined && { textBytes }),
    ...(seconds !== undefined && { seconds }),
  };
  return { ok: true, value };
}

function isMediaType(value: unknown): value is MediaType {
  return typeof value === 'string' && Object.prototype.hasOwnProperty.call(MEDIA_TYPES, value);
}

/** Bounds hang on it. */
function isFact(value: unknown, isNeeded: boolean, max: number): value is number | undefined {
  return value === undefined ? !isNeeded : isCount(value, max);
}

function isCount(value: unknown, max: number): value is number {
  return typeof value === 'number' && Number.isSafeInteger(value) && value > 0 && value <= max;
}

function fault(reason: string): { readonly ok: false; readonly reason: string } {
  return { ok: false, reason };
}
