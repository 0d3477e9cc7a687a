/** The desk's HTTP API. Invariant: every failure becomes an ApiProblem with words that can be shown. */
import { lost, reached } from './connection.js';
import { loginHeaders } from './session.js';

const LIMIT_MS = 20_000;

export class ApiProblem extends Error {
  /** @param {{ status: number, code: string, detail: string, hint?: string }} facts */
  constructor({ status, code, detail, hint }) {
    super(detail);
    /** 0: nobody answered. */
    this.status = status;
    this.code = code;
    this.hint = hint;
  }
}

/** @type {() => void} */
let whenLoggedOut = () => {};

/** @param {() => void} listener */
export function onLoggedOut(listener) {
  whenLoggedOut = listener;
}

/**
 * @template T
 * @param {string} path
 * @param {AbortSignal} [signal]
 * @returns {Promise<T>}
 */
export function get(path, signal) {
  return ask(path, { method: 'GET' }, signal);
}

/**
 * @template T
 * @param {string} path
 * @param {unknown} body
 * @param {string} [key] Names the request: sent again under it, it counts once.
 * @returns {Promise<T>}
 */
export function post(path, body, key) {
  const headers = {
    'content-type': 'application/json',
    ...(key !== undefined && { 'idempotency-key': key }),
  };
  return ask(path, { method: 'POST', body: JSON.stringify(body), headers });
}

/** @param {...string} parts */
export function pathOf(...parts) {
  return `/v1/${parts.map(encodeURIComponent).join('/')}`;
}

/**
 * @template T
 * @param {string} path
 * @param {RequestInit} init
 * @param {AbortSignal} [signal]
 * @returns {Promise<T>}
 */
async function ask(path, init, signal) {
  const limit = AbortSignal.timeout(LIMIT_MS);
  const response = await reach(path, {
    ...init,
    signal: signal === undefined ? limit : AbortSignal.any([signal, limit]),
  });
  if (!response.ok) throw await problemOf(response);
  return /** @type {Promise<T>} */ (response.json());
}

/**
 * The answer, whatever it says; known to be one of the desk's.
 * @param {string} path
 * @param {RequestInit} init
 */
export async function reach(path, init) {
  try {
    const headers = { ...loginHeaders(), .../** @type {Record<string, string>} */ (init.headers) };
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

/** @param {AbortSignal} signal */
function isTimeout(signal) {
  return signal.reason instanceof DOMException && signal.reason.name === 'TimeoutError';
}

/** @param {Response} response */
export async function problemOf(response) {
  const { status } = response;
  if (status === 401) whenLoggedOut();
  try {
    const said = await response.json();
    const { code = 'failed', title = 'It failed.', detail = title, hint, errors = [] } = said;
    const faults = errors.map((/** @type {{ path: string, message: string }} */ fault) =>
      fault.path === '' ? fault.message : `${fault.path}: ${fault.message}`,
    );
    return new ApiProblem({ status, code, detail: [detail, ...faults].join(' '), hint });
  } catch {
    return new ApiProblem({ status, code: 'failed', detail: `The desk answered ${status}.` });
  }
}

/** @param {unknown} error */
export function wordsOf(error) {
  if (!(error instanceof ApiProblem)) return 'Something went wrong in this page.';
  return error.hint === undefined ? error.message : `${error.message} ${error.hint}`;
}

/** A name for a request that must count once, however often it is sent. */
export function newKey() {
  return crypto.randomUUID();
}
