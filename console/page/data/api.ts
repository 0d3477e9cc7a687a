/** The desk's HTTP API. Invariant: every failure becomes an ApiProblem with words that can be shown. */
import { lost, reached } from './connection.js';
import { loginHeaders } from './session.js';

const LIMIT_MS = 20_000;
/** For what a model is asked for. */
const SLOW_LIMIT_MS = 150_000;

interface ProblemFacts {
  /** 0: nobody answered. */
  readonly status: number;
  readonly code: string;
  readonly detail: string;
  readonly hint?: string;
}

export class ApiProblem extends Error {
  readonly status: number;
  readonly code: string;
  readonly hint: string | undefined;

  constructor({ status, code, detail, hint }: ProblemFacts) {
    super(detail);
    this.status = status;
    this.code = code;
    this.hint = hint;
  }
}

/** The desk knows, and says no: asking again changes nothing. */
export function isRefusal(error: unknown): error is ApiProblem {
  return error instanceof ApiProblem && error.status >= 400 && error.status < 500;
}

let whenLoggedOut: (isUnsent: boolean) => void = () => {};

/** `isUnsent`: what was refused would have done something. */
export function onLoggedOut(listener: (isUnsent: boolean) => void): void {
  whenLoggedOut = listener;
}

export function get<T>(path: string, signal?: AbortSignal): Promise<T> {
  return ask(path, { method: 'GET' }, signal);
}

/** `key` names the request: sent again under the same key, it counts once. */
export function post<T>(path: string, body: unknown, key?: string): Promise<T> {
  const headers = {
    'content-type': 'application/json',
    ...(key !== undefined && { 'idempotency-key': key }),
  };
  return ask(path, { method: 'POST', body: JSON.stringify(body), headers });
}

/** The same, with patience; what it does counts each time. */
export function postSlow<T>(path: string, body: unknown): Promise<T> {
  const headers = { 'content-type': 'application/json' };
  const init = { method: 'POST', body: JSON.stringify(body), headers };
  return answered(path, init, AbortSignal.timeout(SLOW_LIMIT_MS));
}

export function pathOf(...parts: readonly string[]): string {
  return `/v1/${parts.map(encodeURIComponent).join('/')}`;
}

async function ask<T>(path: string, init: RequestInit, signal?: AbortSignal): Promise<T> {
  const limit = AbortSignal.timeout(LIMIT_MS);
  return answered(path, init, signal === undefined ? limit : AbortSignal.any([signal, limit]));
}

async function answered<T>(path: string, init: RequestInit, signal: AbortSignal): Promise<T> {
  const response = await reach(path, { ...init, signal });
  if (!response.ok) throw await problemOf(response, init.method === 'POST');
  return response.json() as Promise<T>;
}

/** The answer, whatever it says; known to be one of the desk's. */
export async function reach(path: string, init: RequestInit): Promise<Response> {
  try {
    const headers = { ...loginHeaders(), ...(init.headers as Record<string, string>) };
    const response = await fetch(path, { ...init, headers, cache: 'no-store' });
    reached(response);
    return response;
  } catch (error) {
    // Whoever left the view wants no answer; a name that no header can hold is not the network's fault.
    if (init.signal?.aborted === true && !isTimeout(init.signal)) throw error;
    lost();
    const detail = 'The desk does not answer. Your request may not have arrived.';
    throw new ApiProblem({ status: 0, code: 'unreachable', detail });
  }
}

function isTimeout({ reason }: AbortSignal): boolean {
  return reason instanceof DOMException && reason.name === 'TimeoutError';
}

interface Problem {
  readonly code?: string;
  readonly title?: string;
  readonly detail?: string;
  readonly hint?: string;
  readonly errors?: readonly { readonly path: string; readonly message: string }[];
}

export async function problemOf(response: Response, isPost = false): Promise<ApiProblem> {
  const { status } = response;
  if (status === 401) whenLoggedOut(isPost);
  try {
    const said = (await response.json()) as Problem;
    const {
      code = 'failed',
      title = 'The request failed.',
      detail = title,
      hint,
      errors = [],
    } = said;
    const faults = errors.map(({ path, message }) =>
      path === '' ? message : `${path}: ${message}`,
    );
    return new ApiProblem({
      status,
      code,
      detail: [detail, ...faults].join(' '),
      ...(hint !== undefined && { hint }),
    });
  } catch {
    return new ApiProblem({ status, code: 'failed', detail: `The desk answered ${status}.` });
  }
}

export function wordsOf(error: unknown): string {
  if (!(error instanceof ApiProblem)) return 'Something went wrong in this page.';
  return error.hint === undefined ? error.message : `${error.message} ${error.hint}`;
}

/** A name for a request that must count once, however often it is sent. */
export function newKey(): string {
  return crypto.randomUUID();
}
