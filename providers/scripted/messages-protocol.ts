/** Anthropic's Messages API. */
import { STATUS_OF_TYPE } from '../anthropic/failure.js';
import { nameOfStatus } from './name-of-status.js';
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
  return (
    nameOfStatus(STATUS_OF_TYPE, status) ?? (status >= 500 ? 'api_error' : 'invalid_request_error')
  );
}
