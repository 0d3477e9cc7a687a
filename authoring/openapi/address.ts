/** Where the service of an OpenAPI document is. */
import { isSafeAddress, isThisMachine } from '../connector-auth.js';
import type { Json } from '../../core/json/json.js';
import { followed, own, unfit, words, type Part } from './document.js';
import { wrong, type Operation } from './operations.js';

const HINT = "Say where the service is: baseUrl: 'https://api.example.com/v1'.";
/** Addresses by number, of one label, or of names that networks use within: of a network of one's own, often. */
const WITHIN =
  /^(\d{1,3}\.){3}\d{1,3}$|^\[|^[^.]*$|\.(internal|local|localhost|svc|lan|corp|home|intranet|home\.arpa)$/;
const HOST = /^[A-Za-z0-9._-]+$|^\[/;
const PATH = /^[A-Za-z0-9._~!$&'()*+,;=:@/-]*$/;

export interface Address {
  readonly origin: string;
  /** Without a slash at its end. */
  readonly base: string;
}

interface Wanted {
  readonly baseUrl: string | undefined;
  /** The configuration sends secrets there. */
  readonly isSecret: boolean;
}

/**
 * Of the configuration, or of the document; one that only the document names is public, speaks https and gets no secret.
 * Errors: InvalidTool.
 */
export function addressOf(document: Part, { baseUrl, isSecret }: Wanted): Address {
  if (baseUrl !== undefined) {
    const address = checked(baseUrl, 'its baseUrl');
    if (!isSecret || isSafeAddress(address.origin)) return address;
    throw wrong('its baseUrl is plain http and a header is a secret', 'Use an address with https.');
  }
  if (isSecret) throw wrong('a header is a secret, and there is no baseUrl', HINT);
  const named = own(firstOf(document, own(document, 'servers')), 'url');
  if (typeof named !== 'string' || !URL.canParse(named)) {
    throw wrong('the document names no whole address of its service', HINT);
  }
  const { protocol, hostname } = new URL(named);
  if (protocol !== 'https:' || isThisMachine(named) || WITHIN.test(hostname.replace(/\.+$/, ''))) {
    const hint = 'Say the address yourself by baseUrl if that is where the service is.';
    throw wrong(`the document names the address ${words(named)}, which is not public`, hint);
  }
  return checked(named, 'the address in the document');
}

/** Refuses an operation that the document has at another address than the one that its requests go to. Errors: InvalidTool. */
export function checkPlace(
  document: Part,
  { key, servers }: Operation,
  { origin, base }: Address,
): void {
  if (servers === undefined) return;
  const named = own(firstOf(document, servers), 'url');
  const usual = own(firstOf(document, own(document, 'servers')), 'url');
  if (named === undefined || named === usual) return;
  if (typeof named === 'string' && URL.canParse(named, origin)) {
    const url = new URL(named, origin);
    if (url.origin === origin && url.pathname.replace(/\/+$/, '') === base) return;
  }
  const hint = 'Make its tool by a fromOpenAPI of its own, with that address as baseUrl.';
  throw unfit(`${key} is at ${words(named)}, and not where the other requests go`, hint);
}

function firstOf(document: Part, servers: Json | undefined): Part | undefined {
  return Array.isArray(servers) ? followed(document, servers[0], 'a server') : undefined;
}

function checked(address: string, what: string): Address {
  const url = URL.canParse(address) ? new URL(address) : undefined;
  if (url === undefined || !/^https?:$/.test(url.protocol)) throw wrong(`${what} is no URL`, HINT);
  if (url.username !== '' || url.password !== '' || url.search !== '' || url.hash !== '') {
    const hint = 'Send secrets by headers; leave queries out.';
    throw wrong(`${what} has more than a host and a path`, hint);
  }
  if (!HOST.test(url.hostname) || !PATH.test(url.pathname))
    throw wrong(`${what} is none that can be used`, HINT);
  return { origin: url.origin, base: url.pathname.replace(/\/+$/, '') };
}
