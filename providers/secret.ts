/**
 * Keeps a provider's key to itself. What a vendor answers is kept in histories, events and the store, and
 * some repeat the key that they refuse.
 * Invariant: no failure leaves with the key in its words, its details or its cause.
 */
import { HoldfastError } from '../core/state/errors.js';

const IN_ITS_PLACE = '[API key]';
/** A shorter one is no secret, and part of too many words. */
const SECRET_CHARS_MIN = 16;
/** Fewer than these at the end of a text give nothing away. */
const SECRET_PART_CHARS_MIN = 8;

/** Runs `work`; what it throws has `secret` taken out. */
export async function withoutSecret<T>(secret: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw error instanceof HoldfastError && secret.length >= SECRET_CHARS_MIN
      ? discreet(error, secret)
      : error;
  }
}

/** The same for several. */
export function withoutSecrets<T>(secrets: readonly string[], work: () => Promise<T>): Promise<T> {
  const [first, ...rest] = secrets;
  return first === undefined ? work() : withoutSecret(first, () => withoutSecrets(rest, work));
}

function discreet(error: HoldfastError, secret: string): HoldfastError {
  const { code, message, hint, details = {}, cause } = error;
  return new HoldfastError(code, cleaned(message, secret), {
    ...(hint !== undefined && { hint: cleaned(hint, secret) }),
    details: Object.fromEntries(
      Object.entries(details).map(([name, value]) => [
        name,
        typeof value === 'string' ? cleaned(value, secret) : value,
      ]),
    ),
    // A vendor's error holds the answer with all its headers.
    ...(cause instanceof Error && !cause.message.includes(secret) && { cause }),
  });
}

function cleaned(text: string, secret: string): string {
  const whole = text.replaceAll(secret, IN_ITS_PLACE);
  // Long words are cut, perhaps in the middle of the key.
  for (let chars = secret.length - 1; chars >= SECRET_PART_CHARS_MIN; chars -= 1) {
    if (whole.endsWith(secret.slice(0, chars))) return `${whole.slice(0, -chars)}${IN_ITS_PLACE}`;
  }
  return whole;
}
