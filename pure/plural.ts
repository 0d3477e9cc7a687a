/** `1 turn`, `1,200 turns`: how many of something, as people read it. `nouns`: a plural that is not the noun with an s. */
export function plural(count: number, noun: string, nouns = `${noun}s`): string {
  return `${count.toLocaleString('en-US')} ${count === 1 ? noun : nouns}`;
}
