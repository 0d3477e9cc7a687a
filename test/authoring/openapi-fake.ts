/** Tools of OpenAPI documents against a service within the test: what is sent, and what is answered. */
import type { ToolContext } from '../../authoring/tool.js';
import { fromOpenAPI, type OpenApiSettings, type Tool } from '../../index.js';

interface Sent {
  readonly method: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | undefined;
}

export interface Fake {
  readonly sent: Sent[];
  readonly fetch: typeof fetch;
}

/** Answers each request by what `answer` gives; without it by `{"ok":true}`. */
export function fake(answer: (sent: Sent) => Response = () => Response.json({ ok: true })): Fake {
  const sent: Sent[] = [];
  return {
    sent,
    fetch: async (url, init) => {
      const { method = '', headers, body } = init ?? {};
      const one = {
        method,
        url: String(url as URL),
        headers: headers as Record<string, string>,
        body: body as string | undefined,
      };
      sent.push(one);
      return answer(one);
    },
  };
}

export const context = (changes: object = {}) =>
  ({
    callId: 'c1',
    idempotencyKey: 'key-1',
    attempt: 1,
    signal: new AbortController().signal,
    ...changes,
  }) as ToolContext;

/** A document of some operations, by path and method. */
export function paths(given: object, more: object = {}): object {
  return { openapi: '3.1.0', paths: given, ...more };
}

export function made(document: object, settings: Partial<OpenApiSettings> = {}): readonly Tool[] {
  return fromOpenAPI(document, { allow: ['*'], baseUrl: 'https://a.example/v1', ...settings });
}

export async function called(tool: Tool | undefined, input: object, ctx = context()) {
  if (tool === undefined) throw new Error('there is no such tool');
  const parsed = tool.parse(input);
  if (!parsed.ok) throw new Error(parsed.message);
  return tool.run(parsed.value, ctx);
}

export const thrownBy = (running: Promise<unknown>) =>
  running.then(
    () => undefined,
    (error: Error) => error,
  );
