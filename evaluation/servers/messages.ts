/** Messages of the protocol (MCP), as a server of a case writes them. */
import type { Json } from '../../core/json/json.js';
import type { CaseServer } from '../server-case.js';
import type { ScriptedResult, ServerQuestions } from '../script.js';

export interface Message {
  readonly id?: number | string;
  readonly method?: string;
  readonly params?: { readonly [name: string]: unknown };
  readonly result?: unknown;
}

const MODERN = '2026-07-28';
const LEGACY = '2025-06-18';
const CAPABILITIES = { tools: { listChanged: true } };

/** Codes of JSON-RPC. */
export const METHOD_UNKNOWN = -32_601;
export const PARAMS_REFUSED = -32_602;
export const INTERNAL = -32_603;

/** What a server says of itself; undefined: its protocol does not know the method. */
export function introduction({ name, protocol }: CaseServer, method: string): object | undefined {
  const info = { name, version: '1' };
  if (method === 'initialize' && protocol === 'legacy') {
    return { protocolVersion: LEGACY, capabilities: CAPABILITIES, serverInfo: info };
  }
  if (method !== 'server/discover' || protocol === 'legacy') return undefined;
  return {
    supportedVersions: [MODERN],
    capabilities: CAPABILITIES,
    ...ended(protocol),
    _meta: { 'io.modelcontextprotocol/serverInfo': info },
  };
}

/** What stands in each result of the modern protocol. */
export function ended(protocol: CaseServer['protocol']): object {
  return protocol === 'modern' ? { resultType: 'complete', ttlMs: 0, cacheScope: 'private' } : {};
}

/** The result of a call; objects are structured content. */
export function resultWith(value: Json): object {
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  const content = [{ type: 'text', text }];
  const isObject = typeof value === 'object' && value !== null && !Array.isArray(value);
  return isObject ? { content, structuredContent: value } : { content };
}

export function failureWith(text: string): object {
  return { content: [{ type: 'text', text }], isError: true };
}

/** Questions as requests of the protocol, by their keys. */
export function requestsOf(questions: ServerQuestions): { readonly [key: string]: object } {
  return Object.fromEntries(
    Object.entries(questions).map(([key, { message, schema, url }]) => [
      key,
      {
        method: 'elicitation/create',
        params:
          url === undefined
            ? { mode: 'form', message, requestedSchema: schema }
            : { mode: 'url', message, url, elicitationId: key },
      },
    ]),
  );
}

export function asking({
  questions,
  state,
}: Extract<ScriptedResult, { kind: 'input_required' }>): object {
  return {
    resultType: 'input_required',
    inputRequests: requestsOf(questions),
    ...(state !== undefined && { requestState: state }),
  };
}

export function refusal(id: Message['id'], code: number, message: string): Response {
  return json(id, { error: { code, message } });
}

export function json(id: Message['id'], body: object, status = 200): Response {
  return raw(JSON.stringify({ jsonrpc: '2.0', id, ...body }), status);
}

export function raw(text: string, status = 200): Response {
  return new Response(text, { status, headers: { 'content-type': 'application/json' } });
}

/** Several messages in answer to one, the last of which is the answer itself. */
export function stream(messages: AsyncIterable<object> | Iterable<object>): Response {
  const encoder = new TextEncoder();
  const body = new ReadableStream<Uint8Array>({
    async start(controller) {
      for await (const message of messages) {
        const data = JSON.stringify({ jsonrpc: '2.0', ...message });
        controller.enqueue(encoder.encode(`event: message\ndata: ${data}\n\n`));
      }
      controller.close();
    },
  });
  return new Response(body, { headers: { 'content-type': 'text/event-stream' } });
}
