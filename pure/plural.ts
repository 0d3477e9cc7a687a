/** `1 turn`, `1,200 turns`: how many of something, as people read it. `nouns`: a plural that is not the noun with an s. */
export function plural(count: number, noun: string, nouns = `${noun}s`): string {
  const digits = String(count).replace(/\B(?=(?:\d{3})+$)/g, ',');
  return `${digits} ${count === 1 ? noun : nouns}`;
}
