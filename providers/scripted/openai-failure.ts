/** Errors in the form of OpenAI's API. */
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
  const types: ReadonlyMap<number, string> = new Map([
    [401, 'authentication_error'],
    [403, 'permission_error'],
    [404, 'not_found_error'],
    [429, 'rate_limit_error'],
    [503, 'service_unavailable_error'],
    [529, 'overloaded_error'],
  ]);
  return types.get(status) ?? (status >= 500 ? 'server_error' : 'invalid_request_error');
}
