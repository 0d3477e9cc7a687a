/**
 * What may not leave a connector: values of its headers, variables, address and tokens.
 * Invariant: each text of a connector that becomes an error, an event or a line of a log has passed `hide`.
 */
import { codedForms } from '../authoring/coded-forms.js';
import type { Connector } from '../authoring/connectors.js';

/** Shorter values are words that stand anywhere: `true`, `en`. */
const SECRET_CHARS_MIN = 6;
/** Coded, a shorter value is a word that stands anywhere. */
const CODED_CHARS_MIN = 12;
const TOKENS_MAX = 16;
const TEXT_CHARS_MAX = 500;
const HIDDEN = '[hidden]';

export interface Secrets {
  /** The text without secrets, on one line, at most 500 characters. */
  hide(text: string): string;
  /** The text without secrets, as long and with the lines that it has. */
  strip(text: string): string;
  /** The text without the tokens and secrets of an authorization: what a result may not have. */
  redact(text: string): string;
  /** One more value that may not leave. */
  keep(value: string): void;
}

export function secretsOf({ reached }: Pick<Connector, 'reached'>): Secrets {
  const fixed =
    reached.kind === 'stdio'
      ? [...Object.values(reached.env), ...reached.args]
      : [...Object.values(reached.headers).flatMap(headerParts), ...urlParts(reached.url)];
  /** In the order in which they were kept, each with its forms. */
  const tokens = new Map<string, readonly string[]>();
  const kept = (): readonly string[] => [...tokens.values()].flat();
  const strip = (text: string): string => without([...fixed, ...kept()], text);
  return {
    strip,
    redact: (text) => without(kept(), text),
    hide(text) {
      return strip(text)
        .replaceAll(/\p{C}+|\s+/gu, ' ')
        .slice(0, TEXT_CHARS_MAX);
    },
    keep(value) {
      const forms = tokens.get(value) ?? formsOf(value);
      tokens.delete(value);
      tokens.set(value, forms);
      if (tokens.size > TOKENS_MAX) tokens.delete(tokens.keys().next().value ?? value);
    },
  };
}

function without(values: readonly string[], text: string): string {
  return values
    .filter((value) => value.length >= SECRET_CHARS_MIN)
    .toSorted((one, other) => other.length - one.length)
    .reduce((rest, value) => rest.replaceAll(value, HIDDEN), text);
}

/** As a value may come back: as it is, and in base64. */
function formsOf(value: string): readonly string[] {
  if (value.length < CODED_CHARS_MIN) return [value];
  return [...new Set([value, ...codedForms(value)])];
}

/** `Bearer abc` has the secret `abc`. */
function headerParts(value: string): readonly string[] {
  return [value, ...value.split(/\s+/)];
}

function urlParts(text: string): readonly string[] {
  const { username, password, searchParams } = new URL(text);
  const parts = [username, password, ...searchParams.values()];
  return [...parts, ...parts.map(encodeURIComponent)];
}
