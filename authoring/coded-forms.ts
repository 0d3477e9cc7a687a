/** Secrets as base64 holds them. */

/** How base64 may hold the value: the place of its first byte decides what it looks like. */
export function codedForms(value: string): readonly string[] {
  const bytes = Buffer.from(value);
  const coded = [0, 1, 2].map((before) =>
    Buffer.concat([Buffer.alloc(before), bytes])
      .toString('base64')
      .slice(Math.ceil((before * 8) / 6), Math.floor(((before + bytes.length) * 8) / 6)),
  );
  const forAddresses = coded.map((text) => text.replaceAll('+', '-').replaceAll('/', '_'));
  return [...coded, ...forAddresses];
}
