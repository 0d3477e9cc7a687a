/** Whether certificates and keys can be used at all, before anybody is shown them. */
import { createPrivateKey, X509Certificate, type KeyObject } from 'node:crypto';
import { HoldfastError } from '../core/state/errors.js';
import type { TlsMaterial } from './access.js';

/** What the parts are called where they were named: files, variables. */
export interface MaterialNames {
  readonly ca: string;
  readonly cert: string;
  readonly key: string;
}

const NAMES: MaterialNames = {
  ca: 'tls.ca',
  cert: 'tls.cert',
  key: 'tls.key',
};

/** Errors: InvalidConfig naming the part, with `details.reason`: `certificate` or `expired`. */
export function checkMaterial(
  { ca, cert, key }: TlsMaterial,
  { names = NAMES, now = Date.now() }: { names?: MaterialNames; now?: number } = {},
): void {
  if (ca !== undefined) certificateIn(ca, names.ca);
  if (cert === undefined && key === undefined) return;
  if (cert === undefined || key === undefined) {
    const [given, missing] = cert === undefined ? [names.key, names.cert] : [names.cert, names.key];
    throw unusable(
      `${given} is set, and ${missing} is not`,
      'A certificate and its key go together.',
    );
  }
  const own = certificateIn(cert, names.cert);
  if (!own.checkPrivateKey(keyIn(key, names.key))) {
    throw unusable(
      `${names.key} is not the key of the certificate ${names.cert}`,
      'Name the key that the certificate was made for.',
    );
  }
  const [from, to] = [Date.parse(own.validFrom), Date.parse(own.validTo)];
  if (now > to) throw expired(`the certificate ${names.cert} expired on ${dayOf(to)}`);
  if (now < from) throw expired(`the certificate ${names.cert} is valid from ${dayOf(from)} only`);
}

/** When the client's certificate ends, ms since epoch; undefined: there is none. */
export function endOfCertificate({ cert }: TlsMaterial): number | undefined {
  return cert === undefined ? undefined : Date.parse(certificateIn(cert, NAMES.cert).validTo);
}

export function dayOf(ms: number): string {
  return new Date(ms).toISOString().slice(0, 16).replace('T', ' ').concat(' UTC');
}

function certificateIn(pem: Uint8Array, name: string): X509Certificate {
  try {
    return new X509Certificate(Buffer.from(pem));
  } catch {
    throw unusable(
      `${name} holds no certificate`,
      'The file must be PEM: -----BEGIN CERTIFICATE-----',
    );
  }
}

/** The error of the library may quote what it read, so it is not handed on. */
function keyIn(pem: Uint8Array, name: string): KeyObject {
  try {
    return createPrivateKey(Buffer.from(pem));
  } catch {
    throw unusable(
      `${name} holds no private key that can be read`,
      'The file must be PEM, and without a passphrase.',
    );
  }
}

function unusable(what: string, hint: string): HoldfastError {
  return new HoldfastError('InvalidConfig', `TLS cannot be used: ${what}.`, {
    hint,
    details: { reason: 'certificate' },
  });
}

function expired(what: string): HoldfastError {
  return new HoldfastError('InvalidConfig', `TLS cannot be used: ${what}.`, {
    hint: 'Put a new certificate in its place, and look at the clock of this machine.',
    details: { reason: 'expired' },
  });
}
