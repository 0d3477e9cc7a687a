/** Where the service of an OpenAPI document is. */
import { isThisMachine } from '../connector-auth.js';
import { followed, own, words, type Part } from './document.js';
import { wrong } from './operations.js';

const HINT = "Say where the service is: baseUrl: 'https://api.example.com/v1'.";
/** Addresses by number: of a network of one's own, often. */
const NUMBERED = /^(\d{1,3}\.){3}\d{1,3}$|^\[|(^|\.)(internal|local|localhost)$/;
const HOST = /^[A-Za-z0-9._-]+$|^\[/;
const PATH = /^[A-Za-z0-9._~!$&'()*+,;=:@/-]*$/;

export interface Address {
  readonly origin: string;
  /** Without a slash at its end. */
  readonly base: string;
}

/** Of the configuration, or of the document; one that only the document names is public and speaks https. Errors: InvalidTool. */
export function addressOf(document: Part, baseUrl: string | undefined): Address {
  if (baseUrl !== undefined) return checked(baseUrl, 'its baseUrl');
  const servers = own(document, 'servers');
  const first = Array.isArray(servers) ? followed(document, servers[0], 'a server') : undefined;
  const named = own(first, 'url');
  if (typeof named !== 'string' || !URL.canParse(named)) {
    throw wrong('the document names no whole address of its service', HINT);
  }
  const { protocol, hostname } = new URL(named);
  if (protocol !== 'https:' || isThisMachine(named) || NUMBERED.test(hostname)) {
    const hint = 'Say the address yourself by baseUrl if that is where the service is.';
    throw wrong(`the document names the address ${words(named)}, which is not public`, hint);
  }
  return checked(named, 'the address in the document');
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
