/**
 * Why a Temporal server cannot be reached, found out by knocking once more: the SDKs say mostly that there was no
 * connection. Invariant: nothing of keys and certificates is in what is said but names and dates.
 */
import { connect as connectSocket, isIP, type Socket } from 'node:net';
import {
  connect as connectTls,
  rootCertificates,
  type ConnectionOptions,
  type TLSSocket,
} from 'node:tls';
import { HoldfastError } from '../core/state/errors.js';
import { tlsOf, type ServerAccess, type TlsMaterial } from './access.js';

const KNOCK_MS = 3_000;
/** A server that refuses the client's certificate says so after its own handshake. */
const SAYS_NO_MS = 500;
const WORDS_MAX = 200;

type Where = Pick<ServerAccess, 'address' | 'tls' | 'apiKey'>;

/** The error of a connection that did not come about, for people: `details.reason` names what failed. */
export async function connectionFailure(where: Where, cause: unknown): Promise<HoldfastError> {
  const tls = tlsOf(where);
  const found = tls === undefined ? await knockPlain(where) : await knockTls(where, tls);
  const { reason, message, hint } = found ?? withoutAuthorities(where, cause) ?? noReason(where);
  return new HoldfastError('ServerUnavailable', message, {
    hint,
    details: { address: where.address, reason },
    cause,
  });
}

/** What the server says to a caller that it does not know (16), or that may not do this (7). */
export function accessRefused(
  { address, apiKey, tls }: Where,
  {
    code,
    words,
    cause,
  }: { readonly code: number; readonly words: string; readonly cause: unknown },
): HoldfastError {
  const isUnknown = code === UNAUTHENTICATED;
  const shown = apiKey !== undefined ? 'the API key' : whoShows(tls);
  // A server may quote what it was shown.
  const harmless = apiKey === undefined ? words : words.replaceAll(apiKey, '…');
  const said = harmless === '' ? '' : ` (${harmless.slice(0, WORDS_MAX)})`;
  const message = isUnknown
    ? `The server at ${address} does not accept ${shown}${said}.`
    : `The server at ${address} does not allow this to ${shown}${said}.`;
  return new HoldfastError('ServerUnavailable', message, {
    hint: isUnknown
      ? 'Set HOLDFAST_API_KEY or HOLDFAST_API_KEY_FILE (or HOLDFAST_TLS_CERT and HOLDFAST_TLS_KEY) to what the server knows; a key may have expired.'
      : 'Use an account that may do it in this namespace, or ask who runs the server.',
    details: { address, reason: isUnknown ? 'unauthenticated' : 'permission' },
    cause,
  });
}

function whoShows(tls: Where['tls']): string {
  const hasCertificate = typeof tls === 'object' && tls.cert !== undefined;
  return hasCertificate ? "the client's certificate" : 'a caller without API key';
}

const UNAUTHENTICATED = 16;
const PERMISSION_DENIED = 7;

/** The status in the words of the native SDK, which gives no number. */
export function refusalIn(message: string): { code: number; words: string } | undefined {
  const words = /message: "([^"]{0,500})"/.exec(message)?.[1] ?? '';
  if (/valid authentication credentials/i.test(message)) return { code: UNAUTHENTICATED, words };
  if (/does not have permission/i.test(message)) return { code: PERMISSION_DENIED, words };
  return undefined;
}

interface Found {
  readonly reason: string;
  readonly message: string;
  readonly hint: string;
}

function placeOf(address: string): { readonly host: string; readonly port: number } {
  const at = address.lastIndexOf(':');
  return {
    host: address.slice(0, at).replace(/^\[(.*)\]$/, '$1'),
    port: Number(address.slice(at + 1)),
  };
}

async function knockPlain({ address }: Where): Promise<Found | undefined> {
  const failure = await knock(() => connectSocket(placeOf(address)), 'connect');
  if (failure !== undefined) return unreached(address, failure);
  if (!(await answersHandshake(placeOf(address)))) return undefined;
  return {
    reason: 'tls_expected',
    message: `The server at ${address} speaks TLS, and it was called without.`,
    hint: 'Set HOLDFAST_TLS=true, or HOLDFAST_TLS_CA, HOLDFAST_TLS_CERT and HOLDFAST_TLS_KEY.',
  };
}

/**
 * Whoever answers a handshake wants one, also a front that demands a client's certificate and hangs up on whoever
 * shows none, without an alert.
 */
async function answersHandshake({ host, port }: ReturnType<typeof placeOf>): Promise<boolean> {
  const socket = connectSocket({ host, port });
  const options = {
    socket,
    rejectUnauthorized: false,
    ...(isIP(host) === 0 && { servername: host }),
  };
  const failure = await knock(() => handshake(options), 'secureConnect');
  socket.destroy();
  const { code = '' } = failure ?? {};
  // What the parser of TLS takes is TLS.
  const isParsed = !/^ERR_(SSL|OSSL)/.test(code) || /ALERT/.test(code);
  return isParsed && (failure === undefined || code === SHUT || socket.bytesRead > 0);
}

async function knockTls({ address }: Where, tls: TlsMaterial): Promise<Found | undefined> {
  const { host, port } = placeOf(address);
  const { serverName = host, ca, cert, key } = tls;
  const failure = await knock(
    () =>
      handshake({
        host,
        port,
        ...(isIP(serverName) === 0 && { servername: serverName }),
        // As the client does, for which NODE_EXTRA_CA_CERTS does not count.
        ca: ca === undefined ? [...rootCertificates] : Buffer.from(ca),
        ...(cert !== undefined && { cert: Buffer.from(cert) }),
        ...(key !== undefined && { key: Buffer.from(key) }),
      }),
    'secureConnect',
  );
  return (
    failure && (unshaken({ address, serverName, cert }, failure) ?? unreached(address, failure))
  );
}

function handshake(options: ConnectionOptions): TLSSocket {
  return connectTls({ ...options, ALPNProtocols: ['h2'], minVersion: 'TLSv1.2' });
}

/** The server ended the connection right after the handshake, without a word. */
const SHUT = 'SHUT';

type Failure = Error & { readonly code?: string };

/** What was wrong; undefined: the door opened, and nobody shut it within a moment. */
function knock(open: () => Socket, opened: string): Promise<Failure | undefined> {
  return new Promise((resolve) => {
    let socket: Socket;
    let timer = setTimeout(
      () => end(Object.assign(new Error('no answer'), { code: 'ETIMEDOUT' })),
      KNOCK_MS,
    );
    const end = (failure?: Failure): void => {
      clearTimeout(timer);
      socket?.destroy();
      resolve(failure);
    };
    try {
      socket = open();
    } catch (error) {
      return end(error as Failure);
    }
    socket.on('error', (error: Failure) => end(error));
    socket.once(opened, () => {
      clearTimeout(timer);
      timer = setTimeout(() => end(), opened === 'connect' ? 0 : SAYS_NO_MS);
      // The first frame of HTTP/2 comes once the client's certificate is accepted.
      socket.once('data', () => end());
      socket.once('close', () => end(Object.assign(new Error('closed'), { code: SHUT })));
    });
  });
}

const UNTRUSTED = [
  'SELF_SIGNED_CERT_IN_CHAIN',
  'DEPTH_ZERO_SELF_SIGNED_CERT',
  'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
  'UNABLE_TO_GET_ISSUER_CERT',
  'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
  'CERT_SIGNATURE_FAILURE',
];

interface Shown {
  readonly address: string;
  readonly serverName: string;
  readonly cert: Uint8Array | undefined;
}

function unshaken({ address, serverName, cert }: Shown, failure: Failure): Found | undefined {
  const { code = '' } = failure;
  const words = inWords(failure);
  if (code === 'ERR_TLS_CERT_ALTNAME_INVALID') {
    return {
      reason: 'server_name',
      message: `The certificate of the server at ${address} is for another name than ${serverName} (${words}).`,
      hint: 'Set HOLDFAST_TLS_SERVER_NAME to a name of the certificate, if that is the right server.',
    };
  }
  if (code === 'CERT_HAS_EXPIRED' || code === 'CERT_NOT_YET_VALID') {
    return {
      reason: 'expired',
      message: `The certificate of the server at ${address} ${code === 'CERT_HAS_EXPIRED' ? 'has expired' : 'is not valid yet'} (${words}).`,
      hint: 'The operator of the server has to renew it; look at the clock of this machine as well.',
    };
  }
  if (UNTRUSTED.includes(code)) {
    return {
      reason: 'untrusted',
      message: `The certificate of the server at ${address} comes from nobody who is trusted here (${words}).`,
      hint: 'Set HOLDFAST_TLS_CA to the certificate of its authority (NODE_EXTRA_CA_CERTS does not count).',
    };
  }
  if (/WRONG_VERSION_NUMBER|PACKET_LENGTH_TOO_LONG|HTTP_REQUEST/.test(code)) {
    return {
      reason: 'no_tls',
      message: `The server at ${address} does not speak TLS.`,
      hint: 'Name the address that speaks TLS. Where clear text is right, set HOLDFAST_TLS=false and no API key.',
    };
  }
  if (code === SHUT || isAboutCertificate(code, cert !== undefined)) {
    return refusedCertificate(address, { code, words, cert });
  }
  return code.startsWith('ERR_SSL') || code.startsWith('ERR_OSSL')
    ? {
        reason: 'handshake',
        message: `The TLS handshake with ${address} failed (${words}).`,
        hint: DOCTOR,
      }
    : undefined;
}

/** Alerts that say nothing of the client's certificate: versions, ciphers, names. */
const OF_ELSE =
  /PROTOCOL_VERSION|INSUFFICIENT_SECURITY|INTERNAL_ERROR|UNRECOGNIZED_NAME|NO_APPLICATION|DECODE/;

/** Before TLS 1.3 a missing certificate is a failure of the handshake like any other. */
function isAboutCertificate(code: string, isShown: boolean): boolean {
  if (!/ALERT/.test(code) || OF_ELSE.test(code)) return false;
  return !(isShown && code.includes('HANDSHAKE_FAILURE'));
}

const DOCTOR =
  'Compare HOLDFAST_TLS_CA, HOLDFAST_TLS_CERT and HOLDFAST_TLS_KEY with what the server wants.';

/** An alert is the server's word on what the client has shown. */
function refusedCertificate(
  address: string,
  {
    code,
    words,
    cert,
  }: { readonly code: string; readonly words: string; readonly cert: Uint8Array | undefined },
): Found {
  if (/EXPIRED/.test(code)) {
    return {
      reason: 'expired',
      message: `The server at ${address} says that the client's certificate has expired.`,
      hint: 'Put a new certificate in its place (HOLDFAST_TLS_CERT).',
    };
  }
  return {
    reason: 'client_certificate',
    message:
      cert === undefined
        ? `The server at ${address} wants a certificate of its clients, and none was shown.`
        : `The server at ${address} does not accept the client's certificate (${words}).`,
    hint: 'Set HOLDFAST_TLS_CERT and HOLDFAST_TLS_KEY to a pair of an authority that the server trusts.',
  };
}

function unreached(address: string, failure: Failure): Found | undefined {
  const { code = '' } = failure;
  if (code === 'ENOTFOUND' || code === 'EAI_AGAIN') {
    return {
      reason: 'unknown_host',
      message: `The name of the server ${address} cannot be found.`,
      hint: 'Correct HOLDFAST_ADDRESS, or ask who runs the network.',
    };
  }
  if (code === 'ETIMEDOUT' || code === 'EHOSTUNREACH' || code === 'ENETUNREACH') {
    return {
      reason: 'timeout',
      message: `No Temporal server answers at ${address}: nothing came back.`,
      hint: 'Look at the address and at firewalls between here and there.',
    };
  }
  return undefined;
}

/** Workers know the authorities of the system alone; Node, which knocks, has authorities of its own. */
function withoutAuthorities({ address }: Where, cause: unknown): Found | undefined {
  const [words] = /NativeCertsNotFound|UnknownIssuer/.exec(String(cause)) ?? [];
  if (words === undefined) return undefined;
  return {
    reason: 'untrusted',
    message: `The system of this machine has no authority that the certificate of the server at ${address} comes from (${words}).`,
    hint: 'Install the authorities of the system (the package ca-certificates), or set HOLDFAST_TLS_CA to the certificate of the authority.',
  };
}

function noReason({ address }: Where): Found {
  return {
    reason: 'no_answer',
    message: `No Temporal server answers at ${address}.`,
    hint: 'Start one with `holdfast dev` or `holdfast server`, or set HOLDFAST_ADDRESS to yours.',
  };
}

/** The reason without a stack of library names around it. */
function inWords({ message, code = '' }: Failure): string {
  const words = /Reason: (.*)$/.exec(message)?.[1] ?? message;
  return (words.includes(':error:') || words.length > WORDS_MAX ? code : words).slice(0, WORDS_MAX);
}
