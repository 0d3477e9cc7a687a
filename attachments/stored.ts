/**
 * What a reference says of its file, held against the bytes in the store: money is reserved by what it says.
 * Invariant: a document or a sound is looked through once, as long as it is among those that were used lately.
 */
import { kindOf, type Attachment, type MediaType } from '../core/state/attachment.js';
import { prepareAttachment } from './attach.js';
import { isOfType } from './sniff.js';

type Facts = Pick<Attachment, 'pages' | 'textBytes' | 'seconds'>;

const KNOWN_MAX = 1_000;
/** By the hash of the bytes; undefined: the file cannot be used. */
const known = new Map<string, Facts | undefined>();

/** Whether a text of the store is the file of a reference, and no larger than the reference says. */
export function isAsSaid(base64: string, said: Attachment): boolean {
  const { bytes, mediaType } = said;
  if (base64.length !== bytes || !isOfType(base64, mediaType)) return false;
  if (kindOf(said) === 'image') return true;
  const facts = factsOf(base64, said);
  return facts !== undefined && FACTS.every((fact) => atMost(facts[fact], said[fact]));
}

const FACTS = ['pages', 'textBytes', 'seconds'] as const;

function atMost(found: number | undefined, said: number | undefined): boolean {
  return found === undefined || (said !== undefined && found <= said);
}

function factsOf(base64: string, { $blob, mediaType }: Attachment): Facts | undefined {
  if (known.has($blob)) return known.get($blob);
  const facts = looked(base64, mediaType);
  const [oldest] = known.keys();
  if (known.size >= KNOWN_MAX && oldest !== undefined) known.delete(oldest);
  known.set($blob, facts);
  return facts;
}

function looked(data: string, mediaType: MediaType): Facts | undefined {
  try {
    return prepareAttachment({ data, mediaType }).attachment;
  } catch {
    return undefined;
  }
}
