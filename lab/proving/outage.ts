/**
 * Answers that a recording has in the place of a tool's own: the service was not there. No tool gives them again,
 * so they are played as they were recorded, and nothing happens.
 */
const OUTAGES: readonly RegExp[] = [
  /^(?:Error: )?(?:HTTP )?503\b(?!\.\d)/i,
  /\b(?:HTTP|status(?: code)?|error|code)[ :=]{1,3}503\b/i,
  /\b(?:service|server) (?:is )?(?:temporarily |currently )?unavailable\b/i,
];
/** An outage has no more to say; a result may be long and hold anything. */
const CHARS_MAX = 1_000;

export function isOutage(content: string): boolean {
  return content.length <= CHARS_MAX && OUTAGES.some((pattern) => pattern.test(content));
}
