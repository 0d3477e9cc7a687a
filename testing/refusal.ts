/** The error of a start that the runtime refuses. */
import { HoldfastError, isErrorCode } from '../core/state/errors.js';

export function refusal({ code, message }: { readonly code: string; readonly message: string }) {
  return new HoldfastError(isErrorCode(code) ? code : 'Internal', message);
}
