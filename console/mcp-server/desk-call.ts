/**
 * One caller's way to the desk, in this process: every tool of the server is made of requests to the routes of the
 * desk, which know the caller by the token and decide what it may.
 */
import { headerText } from '../../pure/header-text.js';
import type { createApp } from '../app.js';

export interface DeskAnswer {
  readonly status: number;
  readonly body: Readonly<Record<string, unknown>>;
}

export interface DeskCall {
  get(path: string, query?: Query): Promise<DeskAnswer>;
  /** `key`: names the request; the same again counts once. */
  post(path: string, body: object, key?: string): Promise<DeskAnswer>;
}

type Query = { readonly [name: string]: string | number | undefined };

export interface Caller {
  readonly token: string;
  /** Of a request over HTTP, for the limits of strangers; absent: a program of this machine. */
  readonly address?: string | undefined;
  /** As whom to act, with a token of local development. */
  readonly as?: string | undefined;
  readonly roles?: readonly string[] | undefined;
}

/** Never reached over a network: the name is nobody's. */
const BASE = 'http://desk.invalid';

export function deskCall(
  app: Pick<ReturnType<typeof createApp>, 'fetch'>,
  { token, address = 'this process', as, roles }: Caller,
): DeskCall {
  const headers = {
    authorization: `Bearer ${token}`,
    ...(as !== undefined && { 'holdfast-as': headerText(as) }),
    ...(roles !== undefined && { 'holdfast-roles': headerText(roles.join(',')) }),
  };
  const send = async (path: string, init: RequestInit): Promise<DeskAnswer> => {
    const peer = { incoming: { socket: { remoteAddress: address } } };
    const response = await app.fetch(new Request(`${BASE}${path}`, init), peer);
    return { status: response.status, body: (await response.json()) as DeskAnswer['body'] };
  };
  return {
    get: (path, query = {}) => send(`${path}${queryText(query)}`, { headers }),
    post: (path, body, key) =>
      send(path, {
        method: 'POST',
        body: JSON.stringify(body),
        headers: {
          ...headers,
          'content-type': 'application/json',
          ...(key !== undefined && { 'idempotency-key': key }),
        },
      }),
  };
}

function queryText(query: Query): string {
  const pairs = Object.entries(query).flatMap(([name, value]) =>
    value === undefined ? [] : [[name, String(value)] as [string, string]],
  );
  return pairs.length === 0 ? '' : `?${new URLSearchParams(pairs).toString()}`;
}
