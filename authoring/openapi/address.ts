/** Where the service of an OpenAPI document is. */
import { isSafeAddress, isThisMachine } from '../connector-auth.js';
import { followed, own, words, type Part } from './document.js';
import { wrong } from './operations.js';

const HINT = "Say where the service is: baseUrl: 'https://api.example.com/v1'.";
/** Addresses by number, names of one part, and names of networks of one's own. */
const OWN =
  /^(\d{1,3}\.){3}\d{1,3}$|^\[|^[^.]*$|(^|\.)(internal|local|localhost|svc|lan|corp|intranet|home|arpa)$/;
const HOST = /^[A-Za-z0-9._-]+$|^\[/;
const PATH = /^[A-Za-z0-9._~!$&'()*+,;=:@/-]*$/;

export interface Address {
  readonly origin: string;
  /** Without a slash at its end. */
  readonly base: string;
}

interface Named {
  /** Of the configuration. */
  readonly baseUrl: string | undefined;
  /** Requests carry a secret. */
  readonly isSecret: boolean;
}

/**
 * Of the configuration, or of the document; one that only the document names is public, speaks https and gets no secret.
 * Errors: InvalidTool.
 */
export function addressOf(document: Part, { baseUrl, isSecret }: Named): Address {
  if (baseUrl !== undefined) {
    const address = checked(baseUrl, 'its baseUrl');
    if (!isSecret || isSafeAddress(baseUrl)) return address;
    const hint =
      'Use https, or a service on this machine; a header that is a text goes over http as well.';
    throw wrong('its baseUrl begins with http, over which no secret may be sent', hint);
  }
  if (isSecret) throw wrong('the document alone would say where a secret header goes', HINT);
  const servers = own(document, 'servers');
  const first = Array.isArray(servers) ? followed(document, servers[0], 'a server') : undefined;
  const named = own(first, 'url');
  if (typeof named !== 'string' || !URL.canParse(named)) {
    throw wrong('the document names no whole address of its service', HINT);
  }
  const { protocol, hostname } = new URL(named);
  const host = hostname.replace(/\.+$/, '');
  if (protocol !== 'https:' || isThisMachine(named) || OWN.test(host)) {
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
