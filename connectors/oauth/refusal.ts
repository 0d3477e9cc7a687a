/**
 * Why nobody gets a token, in words of this program.
 * Invariant: no text of a server is in them: a server may put whatever it was told into its errors.
 */
import type { Sdk } from '../sdk.js';

export class Refusal extends Error {}

const CODES: readonly string[] = [
  'access_denied',
  'invalid_client',
  'invalid_grant',
  'invalid_request',
  'invalid_scope',
  'invalid_target',
  'server_error',
  'temporarily_unavailable',
  'unauthorized_client',
  'unsupported_grant_type',
  'unsupported_response_type',
];

export function knownCode(code: string): string | undefined {
  return CODES.find((known) => known === code);
}

const OF_CLIENTS: readonly string[] = ['invalid_client', 'unauthorized_client'];

/** Whether the authorization server does not know the client of a login, or not any more: it says so to the person, or to the program. */
export function isClientUnknown(
  error: unknown,
  answer: { readonly error?: string | undefined },
  sdk: Sdk,
): boolean {
  const code = error instanceof sdk.OAuthError ? error.code : answer.error;
  return code !== undefined && OF_CLIENTS.includes(code);
}

/** Of `its authorization server …`, without a full stop. */
export function reasonOf(error: unknown, sdk: Sdk): string {
  if (error instanceof Refusal) return error.message;
  if (error instanceof sdk.OAuthError && knownCode(error.code) !== undefined) {
    return `its authorization server says ${error.code}`;
  }
  if (error instanceof sdk.IssuerMismatchError) {
    return 'the answer is from another issuer than the one that was asked';
  }
  if (error instanceof sdk.RegistrationRejectedError) {
    return 'its authorization server does not register this program';
  }
  if (error instanceof Error && error.name === 'TimeoutError') {
    return 'its authorization server did not answer in time';
  }
  return 'its authorization server cannot be used';
}
