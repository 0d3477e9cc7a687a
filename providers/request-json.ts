/** The JSON of a request: the text of a message that is sent again is not written again. */
import { once } from './once.js';

/** What `JSON.stringify` gives. Nobody changes a message. */
export function requestJson(body: { readonly messages: readonly object[] }): string {
  const fields = Object.entries(body as { readonly [name: string]: unknown }).flatMap(
    ([name, value]) => {
      const messages = name === 'messages' ? `[${body.messages.map(textOf).join(',')}]` : undefined;
      const text = messages ?? JSON.stringify(value);
      return text === undefined ? [] : [`${JSON.stringify(name)}:${text}`];
    },
  );
  return `{${fields.join(',')}}`;
}

const textOf = once((message: object) => JSON.stringify(message));
