/** Forms that hide a text from whoever looks for it, and from nobody else. Such a form is found and never replaced. */

/** Eight bytes and more. */
const BASE64_RUN = /[A-Za-z0-9+/_-]{11,}/g;
const BASE64_GROUP_CHARS = 4;
const LINE_END = /\r?\n/g;
const HEX_RUN = /[0-9a-fA-F]{16,}/g;
const PERCENT_RUN = /(?:%[0-9a-fA-F]{2})+/g;
const ENTITY = /&(?:#\d{1,7}|#[xX][0-9a-fA-F]{1,6}|amp|lt|gt|quot|apos);/g;
const LETTER_BY_ENTITY: Readonly<Record<string, string>> = {
  amp: '&',
  lt: '<',
  gt: '>',
  quot: '"',
  apos: "'",
};
/** A form of a form, such as `%252F` and `&amp;quot;`. */
const ROUNDS_MAX = 3;
const CODE_POINT_MAX = 0x10ffff;

export interface Decoded {
  /** As people call it. */
  readonly form: string;
  readonly text: string;
}

/** What the text may say in another form; most of it is noise. */
export function* decodedForms(text: string): Generator<Decoded, void> {
  yield* decodedRuns(text);
  // An encoder of mail breaks long lines.
  if (text.includes('\n')) yield* decodedRuns(text.replaceAll(LINE_END, ''));
  yield* decodedText(text, { form: 'percent-encoded', decode: withoutPercents });
  yield* decodedText(text, { form: 'as in an address', decode: withoutPluses });
  yield* decodedText(text, { form: 'as XML or HTML', decode: withoutEntities });
}

/** What is hex looks like base64 as well. */
function* decodedRuns(text: string): Generator<Decoded, void> {
  for (const [run] of text.matchAll(BASE64_RUN)) {
    for (const [inner] of run.matchAll(HEX_RUN)) yield* decodedRun(inner, 'hex', 2);
    yield* decodedRun(run, 'base64', BASE64_GROUP_CHARS);
  }
}

/** Where a group begins nobody knows. */
function* decodedRun(
  run: string,
  form: 'hex' | 'base64',
  groupChars: number,
): Generator<Decoded, void> {
  for (let from = 0; from < groupChars; from += 1) {
    yield { form, text: Buffer.from(run.slice(from), form).toString('utf8') };
  }
}

function* decodedText(
  text: string,
  { form, decode }: { readonly form: string; readonly decode: (text: string) => string },
): Generator<Decoded, void> {
  let current = text;
  for (let round = 0; round < ROUNDS_MAX; round += 1) {
    const next = decode(current);
    if (next === current) return;
    yield { form, text: next };
    current = next;
  }
}

function withoutPercents(text: string): string {
  if (!text.includes('%')) return text;
  return text.replaceAll(PERCENT_RUN, (run) =>
    Buffer.from(run.replaceAll('%', ''), 'hex').toString('utf8'),
  );
}

function withoutPluses(text: string): string {
  return withoutPercents(text.replaceAll('+', ' '));
}

function withoutEntities(text: string): string {
  return text.includes('&') ? text.replaceAll(ENTITY, letterOf) : text;
}

/** Of `&quot;`, `&#34;` or `&#x22;`. */
function letterOf(entity: string): string {
  const name = entity.slice(1, -1);
  if (!name.startsWith('#')) return LETTER_BY_ENTITY[name] ?? entity;
  const code = Number(name.slice(1).replace(/^x/i, '0x'));
  return code > CODE_POINT_MAX ? entity : String.fromCodePoint(code);
}
