/** Reading a secret where the configuration says that it is. */
import { readFile, stat } from 'node:fs/promises';
import type { SecretPlace } from '../../authoring/connector-auth.js';
import { Refusal } from './refusal.js';

const SECRET_BYTES_MAX = 16 * 1024;

export interface SecretSharing {
  /** Others than its owner may read the file, and may not write it; default: neither. */
  readonly shared?: boolean;
}

/** Errors: `Refusal`. */
export async function readSecret(
  place: SecretPlace,
  { shared = false }: SecretSharing = {},
): Promise<string> {
  const text = 'env' in place ? process.env[place.env] : await readSecretFile(place.file, shared);
  const secret = text?.trim();
  if (secret === undefined || secret === '') {
    throw new Refusal(
      'env' in place
        ? `the variable ${place.env}, which is to hold the secret, is empty`
        : 'the file that is to hold the secret cannot be read, or is empty',
    );
  }
  return secret;
}

/** Errors: others than its owner may do with the file what they may not. */
async function readSecretFile(file: string, shared: boolean): Promise<string | undefined> {
  const found = await stat(file).catch(() => undefined);
  if (found === undefined || !found.isFile() || found.size > SECRET_BYTES_MAX) return undefined;
  if (process.platform !== 'win32' && (found.mode & (shared ? 0o022 : 0o077)) !== 0) {
    throw new Refusal(
      shared
        ? 'the file of the assertion may be written by others than its owner (chmod 644)'
        : 'the file of the secret may be read by others than its owner (chmod 600)',
    );
  }
  return readFile(file, 'utf8').catch(() => undefined);
}

/** As a client's secret is sent: in a form, and in a header. */
export function formsOf(clientId: string, secret: string): readonly string[] {
  const coded = encodeURIComponent(secret);
  return [
    secret,
    coded,
    Buffer.from(`${clientId}:${secret}`).toString('base64'),
    Buffer.from(`${encodeURIComponent(clientId)}:${coded}`).toString('base64'),
  ];
}
