/**
 * The approval desk as a command reaches it: over HTTP, with a token that says who acts.
 * Invariants: a token leaves only for this machine or under TLS; nothing that a server sends is printed unread.
 */
import { randomUUID } from 'node:crypto';
import { isLoopback } from '../../authoring/index.js';
import { HoldfastError, type ErrorCode } from '../../core/state/errors.js';
import { headerText } from '../../pure/header-text.js';
import { usage } from '../usage.js';
import { requestId } from './request-id.js';

export interface DeskApi {
  /** Errors: as {@link DeskApi.post}. */
  get(path: string): Promise<Answer>;
  /**
   * `key`: names the request; the same again counts once. Default: a new one.
   * Errors: ServerUnavailable, AskNotFound, DecisionRejected, InvalidRequest.
   */
  post(path: string, body: object, key?: string): Promise<Answer>;
}

export type Answer = Readonly<Record<string, unknown>>;

export interface DeskLogin {
  readonly url: string;
  readonly token: string;
  /** Local development: as whom to act. */
  readonly as?: string;
  readonly roles?: readonly string[];
  readonly tenant?: string;
}

/** A desk waits for the servers of connectors, twice for some requests. */
const LIMIT_MS = 90_000;
const ANSWER_BYTES_MAX = 16 * 1024 * 1024;
const VISIBLE = /^[\x21-\x7e]+$/;

/** Errors: Usage for an address to which a token may not go. */
export function deskApi({ url, token, as, roles, tenant }: DeskLogin): DeskApi {
  const base = baseOf(url);
  if (!VISIBLE.test(token.trim())) {
    throw usage('HOLDFAST_TOKEN holds no token.', 'Copy the token anew, without anything else.');
  }
  const headers = {
    authorization: `Bearer ${token}`,
    ...(as !== undefined && { 'holdfast-as': headerText(as) }),
    ...(roles !== undefined && { 'holdfast-roles': headerText(roles.join(',')) }),
    ...(tenant !== undefined && { 'holdfast-tenant': headerText(tenant) }),
  };
  const send = async (path: string, init: RequestInit): Promise<Answer> => {
    // What a header cannot hold fails here, where nobody takes it for a desk that is away.
    const request = new Request(`${base}${path}`, { ...init, redirect: 'error' });
    let status: number;
    let text: string;
    try {
      const response = await fetch(request, { signal: AbortSignal.timeout(LIMIT_MS) });
      ({ status } = response);
      text = await response.text();
    } catch (error) {
      if (error instanceof Error && error.name === 'TimeoutError') throw late(base, error);
      throw unreached(base, error);
    }
    const answer = answerIn(text);
    if (status >= 200 && status < 300 && answer !== undefined) return answer;
    throw refusal(status, answer);
  };
  return {
    get: (path) => send(path, { headers }),
    async post(path, body, key = randomUUID()) {
      return send(path, {
        method: 'POST',
        body: JSON.stringify(body),
        headers: {
          ...headers,
          'content-type': 'application/json',
          'idempotency-key': requestId(key),
        },
      });
    },
  };
}

function late(base: string, cause: Error): HoldfastError {
  return new HoldfastError(
    'ServerUnavailable',
    `The approval desk at ${base} did not answer within ${LIMIT_MS / 1_000} s.`,
    { hint: 'The desk may have done what was asked: look there before you ask again.', cause },
  );
}

const UNCONNECTED =
  /^(ECONN|EPIPE|ENOTFOUND|EAI_AGAIN|EHOST|ENET|EADDRNOTAVAIL|ETIMEDOUT|UND_ERR_(CONNECT|SOCKET))/;

/** What is no failure to connect, such as a redirect or a certificate, tells its reason. */
function unreached(base: string, error: unknown): HoldfastError {
  const { cause = error } = error as Error;
  const { code = '', message } = cause as NodeJS.ErrnoException;
  if (UNCONNECTED.test(code)) {
    return new HoldfastError('ServerUnavailable', `The approval desk at ${base} is not there.`, {
      hint: 'Start it with `holdfast console`, or name it with --desk or HOLDFAST_DESK_URL.',
      cause: error,
    });
  }
  const why = message.slice(0, 200);
  return new HoldfastError('ServerUnavailable', `No desk can be asked at ${base}: ${why}.`, {
    hint: 'See that --desk or HOLDFAST_DESK_URL names the desk itself, and that this machine trusts its certificate.',
    cause: error,
  });
}

function baseOf(url: string): string {
  const parsed = URL.canParse(url) ? new URL(url) : undefined;
  const safe =
    parsed !== undefined &&
    (parsed.protocol === 'https:' || (parsed.protocol === 'http:' && isLoopback(parsed.hostname)));
  if (parsed !== undefined && parsed.username + parsed.password !== '') {
    throw usage('The address of the desk names a user.', 'Leave the user out: your token says it.');
  }
  if (safe) return url.replace(/\/+$/, '');
  throw usage('The address of the desk must be https, or http on this machine.');
}

function answerIn(text: string): Answer | undefined {
  if (text.length > ANSWER_BYTES_MAX) return undefined;
  try {
    const value = JSON.parse(text) as unknown;
    return typeof value === 'object' && value !== null ? (value as Answer) : undefined;
  } catch {
    return undefined;
  }
}

const CODES: Readonly<Record<number, ErrorCode>> = {
  403: 'DecisionRejected',
  404: 'AskNotFound',
  409: 'DecisionRejected',
  503: 'ServerUnavailable',
};

/** The desk does not say whether it is another tenant's, or not there at all. */
const NOTHING_HERE =
  '`holdfast approvals` lists what waits for you, and `holdfast whoami` says who you are to the desk.';

const NEXT: Readonly<Record<number, string>> = {
  401: 'Set HOLDFAST_TOKEN to a valid token of this desk: this one is wrong, has ended or is of another desk.',
  404: NOTHING_HERE,
};

const FAULTS_MAX = 10;

/** Which fields are wrong, and how. */
function faultsIn(errors: unknown): readonly string[] {
  if (!Array.isArray(errors)) return [];
  return errors.slice(0, FAULTS_MAX).map((fault: Partial<Record<'path' | 'message', unknown>>) => {
    const { path, message } = fault ?? {};
    const [where, why] = [path, message].map((text) => (typeof text === 'string' ? text : ''));
    return `${[where?.slice(0, 100), why?.slice(0, 200)].filter(Boolean).join(': ')}.`;
  });
}

function refusal(status: number, answer: Answer | undefined): HoldfastError {
  const { code, hint, errors } = answer ?? {};
  // The desk speaks of headers, which nobody types here.
  const detail = status === 401 ? 'The approval desk does not take the token.' : answer?.detail;
  const next = typeof hint === 'string' ? hint : NEXT[status];
  const said = typeof detail === 'string' ? detail : `The desk answered with ${status}.`;
  const message = [said, ...faultsIn(errors)].join(' ');
  return new HoldfastError(CODES[status] ?? 'InvalidRequest', message.slice(0, 1_000), {
    ...(next !== undefined && { hint: next.slice(0, 1_000) }),
    details: { status, ...(typeof code === 'string' && { reason: code.slice(0, 100) }) },
  });
}
