/**
 * The keys that tokens are encrypted with in the store: AES-256-GCM, each key with an id.
 * Invariants: the first key encrypts and all decrypt, so that keys can be exchanged; what was encrypted for one tenant, connector and
 * server decrypts for no other; no error has a key or a token.
 */
import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';
import { HoldfastError } from '../../core/state/errors.js';
import { Refusal } from './refusal.js';
import { readSecret } from './secret-place.js';

export const KEYS_VARIABLE = 'HOLDFAST_CONNECTOR_KEYS';
export const KEYS_FILE_VARIABLE = 'HOLDFAST_CONNECTOR_KEYS_FILE';

const KEYS_MAX = 16;
const KEY_BYTES = 32;
const IV_BYTES = 12;
const TAG_BYTES = 16;
const KEY = /^([A-Za-z0-9._-]{1,64}):([A-Za-z0-9+/_-]{43}=?)$/;
const HINT = `Set ${KEYS_VARIABLE} to ID:KEY, for instance k1:$(openssl rand -base64 32), for workers, the desk and this command; older keys follow after commas.`;

export interface TokenKeys {
  /** Id of the key that encrypts. */
  readonly current: string;
  readonly all: ReadonlyMap<string, Buffer>;
}

export interface Sealed {
  readonly keyId: string;
  /** base64 of nonce, tag and what was encrypted. */
  readonly sealed: string;
}

/** From the variable, else from the file that another one names. Errors: `InvalidConfig`. */
export async function readTokenKeys(): Promise<TokenKeys> {
  const file = process.env[KEYS_FILE_VARIABLE]?.trim() ?? '';
  const isGiven = (process.env[KEYS_VARIABLE]?.trim() ?? '') !== '';
  if (isGiven && file !== '') {
    throw wrong(`${KEYS_VARIABLE} and ${KEYS_FILE_VARIABLE} are both set: one of them is meant.`);
  }
  if (!isGiven && file === '') {
    throw wrong('Tokens of connectors are stored encrypted, and there is no key for them.');
  }
  try {
    return parseTokenKeys(await readSecret(isGiven ? { env: KEYS_VARIABLE } : { file }));
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    throw wrong(`The keys for tokens of connectors cannot be read: ${error.message}.`);
  }
}

/** Errors: `InvalidConfig`. */
export function parseTokenKeys(text: string): TokenKeys {
  const parts = text.split(/[\s,]+/).filter((part) => part !== '');
  const all = new Map<string, Buffer>();
  for (const part of parts) {
    const [, id, coded] = KEY.exec(part) ?? [];
    const key = coded === undefined ? undefined : Buffer.from(coded, 'base64');
    if (id === undefined || key?.length !== KEY_BYTES || all.has(id)) {
      throw wrong('A key for tokens of connectors is not ID:KEY with 32 bytes in base64.');
    }
    all.set(id, key);
  }
  const [current] = all.keys();
  if (current === undefined || all.size > KEYS_MAX) {
    throw wrong(`There are 1 to ${KEYS_MAX} keys for tokens of connectors, not ${all.size}.`);
  }
  return { current, all };
}

/** `about`: what it is of, which is not secret and has to be the same when it is opened. */
export function seal({ current, all }: TokenKeys, text: string, about: string): Sealed {
  const iv = randomBytes(IV_BYTES);
  const cipher = createCipheriv('aes-256-gcm', all.get(current)!, iv);
  cipher.setAAD(Buffer.from(about));
  const body = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()]);
  const sealed = Buffer.concat([iv, cipher.getAuthTag(), body]).toString('base64');
  return { keyId: current, sealed };
}

/** Errors: `Refusal`. */
export function open({ all }: TokenKeys, { keyId, sealed }: Sealed, about: string): string {
  const key = all.get(keyId);
  if (key === undefined) {
    throw new Refusal(`${KEYS_VARIABLE} lacks the key that its token was encrypted with`);
  }
  const bytes = Buffer.from(sealed, 'base64');
  const tagEnd = IV_BYTES + TAG_BYTES;
  try {
    const decipher = createDecipheriv('aes-256-gcm', key, bytes.subarray(0, IV_BYTES), {
      authTagLength: TAG_BYTES,
    });
    decipher.setAAD(Buffer.from(about));
    decipher.setAuthTag(bytes.subarray(IV_BYTES, tagEnd));
    return decipher.update(bytes.subarray(tagEnd), undefined, 'utf8') + decipher.final('utf8');
  } catch {
    throw new Refusal('its token in the store was altered, or belongs to another address');
  }
}

function wrong(message: string): HoldfastError {
  return new HoldfastError('InvalidConfig', message, { hint: HINT });
}
