/** Work of today's code on what somebody recorded. */

const REASON_CHARS_MAX = 500;

/**
 * Records may be of another release, or made by hand: what the code of today was never given may make it fail where the
 * workflow did not.
 */
export function attempted<T>(
  work: () => T,
): { readonly ok: true; readonly value: T } | { readonly ok: false; readonly reason: string } {
  try {
    return { ok: true, value: work() };
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    return {
      ok: false,
      reason: `Today’s code cannot take what the record has here: ${message.slice(0, REASON_CHARS_MAX)}`,
    };
  }
}
