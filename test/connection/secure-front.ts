/**
 * What stands before a secured Temporal server: it ends TLS, asks for a client's certificate and for an API key,
 * and hands everything else to a server without either.
 */
import http2 from 'node:http2';
import type { AddressInfo } from 'node:net';
import type { TLSSocket } from 'node:tls';
import type { Issued } from './certificates.js';

export interface FrontOptions {
  /** `host:port` of the server behind. */
  readonly behind: string;
  readonly server: Issued;
  /** Certificates of clients must come from here; absent: none is asked for. */
  readonly clientCa?: Buffer;
  /** The keys that are let in; absent: any call is. */
  readonly apiKeys?: readonly string[];
  /** Status of gRPC for those that are not let in; default 16, unauthenticated. */
  readonly refusal?: number;
}

export interface SecureFront {
  readonly port: number;
  /** `localhost:port` */
  readonly address: string;
  /** What clients have shown: common names of certificates, keys, metadata of the newest call. */
  readonly seen: {
    readonly names: Set<string>;
    readonly keys: Set<string>;
    metadata: http2.IncomingHttpHeaders;
  };
  /** From now on these keys alone are let in. */
  allow(apiKeys: readonly string[]): void;
  /** Ends every connection, so that clients must shake hands anew. */
  cut(): void;
  /** From now on this certificate is shown, and clients must have one of that authority. */
  use(server: Issued, clientCa: Buffer): void;
  stop(): Promise<void>;
}

const UNAUTHENTICATED = 16;

export async function startSecureFront(options: FrontOptions): Promise<SecureFront> {
  let { apiKeys } = options;
  const seen: SecureFront['seen'] = { names: new Set(), keys: new Set(), metadata: {} };
  const { cert, key } = options.server;
  const { clientCa } = options;
  const server = http2.createSecureServer({
    cert,
    key,
    ...(clientCa && { ca: clientCa, requestCert: true, rejectUnauthorized: true }),
  });
  const sessions = new Set<http2.ServerHttp2Session>();
  server.on('session', (session) => {
    sessions.add(session);
    const name = (session.socket as TLSSocket).getPeerCertificate()?.subject?.CN;
    if (typeof name === 'string') seen.names.add(name);
    const behind = http2.connect(`http://${options.behind}`);
    behind.on('error', () => session.destroy());
    session.on('error', () => undefined);
    session.on('close', () => {
      sessions.delete(session);
      behind.destroy();
    });
    session.on('stream', (stream, headers) => {
      stream.on('error', () => undefined);
      seen.metadata = headers;
      const shown = /^Bearer (.*)$/.exec(headers.authorization ?? '')?.[1];
      if (shown !== undefined) seen.keys.add(shown);
      if (apiKeys !== undefined && !apiKeys.includes(shown ?? ''))
        return refuse(stream, options.refusal, shown);
      forward(stream, headers, behind);
    });
  });
  server.on('sessionError', () => undefined);
  server.on('tlsClientError', () => undefined);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    port,
    address: `localhost:${port}`,
    seen,
    allow: (keys) => void (apiKeys = keys),
    cut() {
      for (const session of sessions) session.destroy();
    },
    use(issued, ca) {
      server.setSecureContext({ cert: issued.cert, key: issued.key, ca });
    },
    async stop() {
      for (const session of sessions) session.destroy();
      await new Promise<void>((resolve) => server.close(() => resolve()));
    },
  };
}

/** Servers may quote what they were shown. */
function refuse(stream: http2.ServerHttp2Stream, code = UNAUTHENTICATED, shown = 'none'): void {
  const status = { 'grpc-status': code, 'grpc-message': `invalid API key ${shown}` };
  const headers = { ':status': 200, 'content-type': 'application/grpc', ...status };
  stream.respond(headers, { endStream: true });
}

function forward(
  stream: http2.ServerHttp2Stream,
  headers: http2.IncomingHttpHeaders,
  behind: http2.ClientHttp2Session,
): void {
  const { authorization: _, ...rest } = headers;
  const upstream = behind.request({ ...rest, ':scheme': 'http' });
  let trailers: http2.IncomingHttpHeaders = {};
  upstream.on('error', () => stream.close(http2.constants.NGHTTP2_INTERNAL_ERROR));
  stream.on('close', () => upstream.close(stream.rstCode));
  upstream.on('trailers', (given) => (trailers = given));
  upstream.on('response', (given, flags) => {
    if (stream.destroyed) return;
    const isWhole = (flags & http2.constants.NGHTTP2_FLAG_END_STREAM) !== 0;
    stream.respond(given, isWhole ? { endStream: true } : { waitForTrailers: true });
    if (!isWhole) upstream.pipe(stream);
  });
  stream.on('wantTrailers', () => stream.sendTrailers(trailers));
  stream.pipe(upstream);
}
