/** Fields of a vendor's API that a configuration adds to every request, checked. They stay in the worker: no run freezes them. */
import { HoldfastError } from '../core/state/errors.js';
import { depthOf, SHAPE_DEPTH_MAX } from '../core/json/json-depth.js';
import type { Json } from '../core/json/json.js';
import { checkContextManagement } from './context-management.js';

/** By provider: `{ anthropic: { mcp_servers: [ … ], context_management: { edits: [ … ] } } }`. */
export type RequestOptions = {
  readonly [provider: string]: { readonly [field: string]: Json };
};

const OPTIONS_CHARS_MAX = 20_000;
/** Everything else is the runtime's to say, or changes what a request costs: prices and bounds know nothing of it. */
const ALLOWED: readonly string[] = ['mcp_servers', 'container', 'context_management'];
/** A shorter one cannot be told from other words where a vendor repeats it. */
const TOKEN_CHARS_MIN = 16;

/** `takers`: providers that speak a protocol whose requests take such fields. Errors: InvalidConfig. */
export function checkedRequestOptions(
  options: RequestOptions,
  takers: readonly string[],
): RequestOptions {
  for (const [provider, fields] of Object.entries(options)) {
    if (!takers.includes(provider)) {
      throw wrong(
        `No provider ${JSON.stringify(provider.slice(0, 60))} takes requestOptions.`,
        takers,
      );
    }
    if (typeof fields !== 'object' || fields === null || Array.isArray(fields)) {
      throw wrong(`requestOptions.${provider} is no object of fields.`, takers);
    }
    const other = Object.keys(fields).find((field) => !ALLOWED.includes(field));
    if (other !== undefined) throw refused(provider, other);
    const isSmall =
      depthOf(fields) <= SHAPE_DEPTH_MAX && JSON.stringify(fields).length <= OPTIONS_CHARS_MAX;
    if (!isSmall) throw wrong(`requestOptions.${provider} is too large or too deep.`, takers);
    checkServers(fields['mcp_servers'], `requestOptions.${provider}.mcp_servers`);
    const { context_management: edits } = fields;
    if (edits !== undefined) {
      checkContextManagement(edits, `requestOptions.${provider}.context_management`);
    }
  }
  return Object.freeze({ ...options });
}

/** What the vendor repeats of a server in an error is taken out by its token and its address. */
function checkServers(servers: Json | undefined, place: string): void {
  if (servers === undefined) return;
  if (!Array.isArray(servers)) throw unusable(`${place} is no list.`, 'Give a list of servers.');
  for (const [at, server] of (servers as readonly Json[]).entries()) {
    const { authorization_token: token = null, url = null } = isFields(server) ? server : {};
    if (token !== null && (typeof token !== 'string' || token.length < TOKEN_CHARS_MIN)) {
      throw unusable(
        `${place}.${at}.authorization_token is no text of at least ${TOKEN_CHARS_MIN} characters.`,
        'Give the server a longer token.',
      );
    }
    const address = typeof url === 'string' && URL.canParse(url) ? new URL(url) : undefined;
    if (address !== undefined && address.username === '' && address.password === '') continue;
    throw unusable(
      `${place}.${at}.url is no address without a user.`,
      'Give the address of the server, and what opens it as authorization_token.',
    );
  }
}

function isFields(value: Json): value is { readonly [field: string]: Json } {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function refused(provider: string, field: string): HoldfastError {
  return unusable(
    `requestOptions.${provider}.${field.slice(0, 60)} is not taken: the runtime says it, or prices and bounds know nothing of it.`,
    `Give ${ALLOWED.join(' or ')}.`,
  );
}

function wrong(what: string, takers: readonly string[]): HoldfastError {
  const hint = `Give ${ALLOWED.join(' or ')}, by the name of one of ${takers.join(', ')}.`;
  return unusable(what, hint);
}

function unusable(what: string, hint: string): HoldfastError {
  return new HoldfastError('InvalidConfig', `The configuration cannot be used. ${what}`, { hint });
}
