/**
 * What an error of a server means for a call: refused before anything was done, or in doubt.
 * Invariant: what is not known to have been refused is in doubt.
 */
import { RETRYABLE, ToolError, UNAVAILABLE } from '../authoring/tool-error.js';
import type { Sdk } from './sdk.js';
import type { Secrets } from './secrets.js';

/** Errors of JSON-RPC with which a server refuses a request: parse, invalid request, method, parameters. */
const REFUSED_CODES: readonly number[] = [-32700, -32600, -32601, -32602];
/** Statuses with which an HTTP server has refused a request before its handler saw it. */
const REFUSED_STATUSES: readonly number[] = [400, 401, 403, 404, 405, 406, 413, 415, 429];

const UNCONNECTED: readonly string[] = ['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN', 'EHOSTUNREACH'];

/** A failure that leaves the outcome in doubt; a read is repeated. */
class ServerFault extends Error {
  readonly retryable = true;
}

/** The request did not reach the server's tools: nothing has happened, and another connection may be worth it. */
export class Unsent extends ToolError {
  /** Of a read. */
  readonly retryable = true;

  /** `told`: the same for an operator; runs keep the words that they always had. */
  constructor(
    message: string,
    readonly told = message,
  ) {
    super(UNAVAILABLE, message);
  }
}

/** People have to log in; nothing has happened, and another attempt is worth nothing before that. */
export class NeedsLogin extends ToolError {
  constructor(connector: string, why: string) {
    super(
      UNAVAILABLE,
      `The connector ${connector} needs a login: ${why}. An operator logs in with \`holdfast mcp login ${connector}\` or at the desk.`,
    );
  }
}

/** `reasons`: all of them, for an operator. */
export function unreachable(connector: string, why: string, reasons = why): Unsent {
  const words = `The server of the connector ${connector} cannot be reached: `;
  return new Unsent(`${words}${why}`, `${words}${reasons}`);
}

/** Of a request that was sent. */
export function faultOf(error: unknown, { sdk, secrets }: FaultParts): Error {
  if (error instanceof Unsent || error instanceof NeedsLogin) return error;
  if (sdk.InsufficientScopeError.isInstance(error)) {
    return new Unsent('The server refused the call: its token lacks a scope.');
  }
  const message = secrets.hide(error instanceof Error ? error.message : String(error));
  if (sdk.ProtocolError.isInstance(error) && REFUSED_CODES.includes(error.code)) {
    return new ToolError('execution_error', `The server refused the call: ${message}`);
  }
  if (sdk.SdkHttpError.isInstance(error) && REFUSED_STATUSES.includes(error.status)) {
    const message = `The server refused the call with status ${error.status}.`;
    return error.status === 429 ? new ToolError(RETRYABLE, message) : new Unsent(message);
  }
  if (error instanceof sdk.UnauthorizedError) {
    return new ToolError(UNAVAILABLE, 'The server wants another authorization.');
  }
  if (isUnconnected(error, sdk)) return new Unsent(`The server cannot be reached: ${message}`);
  return new ServerFault(`The server did not answer the call as it should: ${message}`);
}

/** Nothing was sent: nobody listens there, or the connection had ended before. */
function isUnconnected(error: unknown, sdk: Sdk): boolean {
  if (sdk.SdkError.isInstance(error)) return error.code === sdk.SdkErrorCode.NotConnected;
  return hasCode(error, CAUSES_MAX);
}

const CAUSES_MAX = 4;

/** Errors of the network stand behind those of fetch, one for each address that was tried. */
function hasCode(error: unknown, depth: number): boolean {
  if (typeof error !== 'object' || error === null || depth === 0) return false;
  const { code, cause, errors } = error as { code?: unknown; cause?: unknown; errors?: unknown };
  if (UNCONNECTED.includes(String(code))) return true;
  if (Array.isArray(errors) && errors.length > 0)
    return errors.every((one) => hasCode(one, depth - 1));
  return hasCode(cause, depth - 1);
}

export interface FaultParts {
  readonly sdk: Sdk;
  readonly secrets: Secrets;
}
