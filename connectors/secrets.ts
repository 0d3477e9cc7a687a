/**
 * What may not leave a connector: values of its headers, variables, address and tokens.
 * Invariant: each text of a connector that becomes an error, an event or a line of a log has passed `hide`.
 */
import type { Connector } from '../authoring/connectors.js';
import { formsOfValue, withoutValues } from '../authoring/hidden-values.js';

const TOKENS_MAX = 16;
const TEXT_CHARS_MAX = 500;

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
  const strip = (text: string): string => withoutValues([...fixed, ...kept()], text);
  return {
    strip,
    redact: (text) => withoutValues(kept(), text),
    hide(text) {
      return strip(text)
        .replaceAll(/\p{C}+|\s+/gu, ' ')
        .slice(0, TEXT_CHARS_MAX);
    },
    keep(value) {
      const forms = tokens.get(value) ?? formsOfValue(value);
      tokens.delete(value);
      tokens.set(value, forms);
      if (tokens.size > TOKENS_MAX) tokens.delete(tokens.keys().next().value ?? value);
    },
  };
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
