/**
 * How a Temporal server is reached: by which name, over which TLS, as whom.
 * Invariant: nothing here is ever shown; what is said of it names files, variables and common names only.
 */
import { createHash } from 'node:crypto';

/** PEM, as it stands in the files. */
export interface TlsMaterial {
  /** Authorities that the server's certificate may come from; default: those of the machine. */
  readonly ca?: Uint8Array;
  /** The client's own certificate, with `key`: mTLS. */
  readonly cert?: Uint8Array;
  readonly key?: Uint8Array;
  /** The name that the server's certificate must have; default: the host of the address. */
  readonly serverName?: string;
}

export interface Credentials {
  /** Absent: no TLS, unless there is an API key. */
  readonly tls?: TlsMaterial | boolean;
  /** Sent as `authorization: Bearer …` with every call. */
  readonly apiKey?: string;
  /** gRPC metadata of every call, by names in lower case. */
  readonly metadata?: Readonly<Record<string, string>>;
}

export interface ServerAccess extends Credentials {
  /** `host:port` */
  readonly address: string;
  readonly namespace: string;
}

/** Settings that workers and clients share. */
export interface Reach extends Credentials {
  /** Gives the credentials of now; looked at every `renewEveryMs`, so that they change without a restart. */
  readonly renew?: () => Credentials | Promise<Credentials>;
  /** Default 30 s. */
  readonly renewEveryMs?: number;
}

/** What of `settings` says how the server is reached. */
export function credentialsOf({ tls, apiKey, metadata }: Credentials): Credentials {
  return {
    ...(tls !== undefined && { tls }),
    ...(apiKey !== undefined && { apiKey }),
    ...(metadata !== undefined && { metadata }),
  };
}

/** The TLS of a connection; undefined: none. An API key is never sent without. */
export function tlsOf({ tls, apiKey }: Credentials): TlsMaterial | undefined {
  if (tls === undefined) return apiKey === undefined ? undefined : {};
  if (tls === false) return undefined;
  return tls === true ? {} : tls;
}

/** In the words of Temporal's SDK. */
export function sdkTls(credentials: Credentials) {
  const tls = tlsOf(credentials);
  if (tls === undefined) return undefined;
  const { ca, cert, key, serverName } = tls;
  return {
    ...(serverName !== undefined && { serverNameOverride: serverName }),
    ...(ca !== undefined && { serverRootCACertificate: Buffer.from(ca) }),
    ...(cert !== undefined &&
      key !== undefined && {
        clientCertPair: { crt: Buffer.from(cert), key: Buffer.from(key) },
      }),
  };
}

/** Equal digests: a connection with the one serves as well as with the other. */
export function tlsDigest(credentials: Credentials): string {
  const tls = tlsOf(credentials);
  if (tls === undefined) return '';
  const parts = [tls.ca, tls.cert, tls.key].map(
    (part) => part && Buffer.from(part).toString('hex'),
  );
  return digest([...parts, tls.serverName]);
}

export function metadataDigest({ metadata = {} }: Credentials): string {
  return digest(Object.entries(metadata).toSorted(([a], [b]) => (a < b ? -1 : 1)));
}

function digest(value: unknown): string {
  return createHash('sha256').update(JSON.stringify(value)).digest('hex');
}
