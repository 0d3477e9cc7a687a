/**
 * How many characters the reason of a decision has at most: a longer one is cut, so whoever takes a reason from a person
 * refuses it. Nothing is imported here, so that help texts can name the limit without loading the core.
 */
export const REASON_CHARS_MAX = 2_000;
