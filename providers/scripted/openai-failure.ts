/** Errors in the form of OpenAI's API. */
import { STATUS_OF_NAME } from '../openai/failure.js';
import { nameOfStatus } from './name-of-status.js';
import type { ScriptedFailure } from './script.js';

export function openAiFailure(failure: ScriptedFailure): string {
  return JSON.stringify({
    error: {
      message: failure.message ?? `scripted ${failure.status}`,
      type: failure.errorType ?? typeOfStatus(failure.status),
      param: null,
      code: failure.errorCode ?? null,
    },
  });
}

function typeOfStatus(status: number): string {
  return (
    nameOfStatus(STATUS_OF_NAME, status) ??
    (status >= 500 ? 'server_error' : 'invalid_request_error')
  );
}
