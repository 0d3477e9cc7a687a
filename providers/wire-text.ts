/** Texts as every vendor takes them. */
import type { HoldfastError } from '../core/state/errors.js';
import { modelFailure } from './provider.js';

const LONE_SURROGATES = /\p{Surrogate}/gu;

/** Lone surrogates have no UTF-8: vendors refuse a body with them. */
export function wellFormed(text: string): string {
  return text.replace(LONE_SURROGATES, '\uFFFD');
}

/** What changes with every request, said where a user or a tool speaks; empty: nothing does. */
export function lateWords(dynamic: readonly string[] = []): string {
  const text = wellFormed(dynamic.filter((each) => each.trim() !== '').join('\n\n'));
  return text === '' ? '' : `(The runtime says, for this request alone:\n${text})`;
}

export function nothingToSend(): HoldfastError {
  return modelFailure('InvalidRequest', 'The conversation has no message to send.', {
    receivedInput: false,
    receivedOutputTokensEstimate: 0,
    shouldRetry: false,
  });
}
