/** Tokens reckoned from bytes, where nobody has counted any. */

/** The tokens that a vendor may bill for this much text; tends to be too high. */
export function estimateTokens(bytes: number): number {
  return Math.ceil(bytes / 3);
}
