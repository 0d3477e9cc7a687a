/**
 * Whether a tool said what was recorded. Complaints about arguments link to the documentation of the library that
 * made them; the version in that link is its recorder's, and says nothing of the tool.
 */
const LINK_VERSION = /(https:\/\/errors\.pydantic\.dev\/)\d+(?:\.\d+)*(?=\/)/g;

export function sameText(said: string, recorded: string): boolean {
  return said === recorded || comparableText(said) === comparableText(recorded);
}

/** The text without what may differ. */
export function comparableText(text: string): string {
  return text.replace(LINK_VERSION, '$1*');
}
