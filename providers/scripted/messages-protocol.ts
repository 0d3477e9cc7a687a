/** Anthropic's Messages API. */
import type { Protocol } from './protocol.js';
import { frame, renderEvents, renderMessage } from './render.js';
import { parseRequest } from './request.js';

export const MESSAGES_PROTOCOL: Protocol = {
  path: '/v1/messages',
  parse: parseRequest,
  events: renderEvents,
  whole: renderMessage,
  failure: (failure) =>
    JSON.stringify({
      type: 'error',
      error: {
        type: failure.errorType ?? typeOfStatus(failure.status),
        message: failure.message ?? `scripted ${failure.status}`,
        ...(failure.errorCode === undefined ? {} : { details: { error_code: failure.errorCode } }),
      },
    }),
  errorEvent: (type) => frame('error', { error: { type, message: `scripted ${type}` } }),
  ping: frame('ping', {}),
};

function typeOfStatus(status: number): string {
  const types: ReadonlyMap<number, string> = new Map([
    [400, 'invalid_request_error'],
    [401, 'authentication_error'],
    [402, 'billing_error'],
    [403, 'permission_error'],
    [404, 'not_found_error'],
    [408, 'timeout_error'],
    [413, 'request_too_large'],
    [429, 'rate_limit_error'],
    [529, 'overloaded_error'],
  ]);
  return types.get(status) ?? (status >= 500 ? 'api_error' : 'invalid_request_error');
}
