/** Arguments, answers, documents and settings that would do something else than they seem to. */
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { isToolError } from '../../authoring/tool-error.js';
import type { ToolContext } from '../../authoring/tool.js';
import { fromOpenAPI, type OpenApiSettings, type Tool } from '../../index.js';
import { DOCUMENT } from './openapi-pets.js';

const SECRET = 'ab/cd+efgh==secret';

let server: Server;
let baseUrl: string;
let asked: { readonly url: string; readonly body: string }[];
let answer: { status: number; body: string; type: string; location?: string };

beforeAll(async () => {
  server = createServer((request, response) => {
    let body = '';
    request.on('data', (part: Buffer) => (body += part.toString()));
    request.on('end', () => {
      asked.push({ url: request.url ?? '', body });
      const { location } = answer;
      const headers = { 'content-type': answer.type, ...(location !== undefined && { location }) };
      response.writeHead(answer.status, headers).end(answer.body);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterAll(() => {
  server.close();
  server.closeAllConnections();
});
beforeEach(() => {
  asked = [];
  answer = { status: 200, body: '{"ok":true}', type: 'application/json' };
});

function only(method: string, operation: object, changes: Partial<OpenApiSettings> = {}): Tool {
  const document = { openapi: '3.1.0', paths: { '/a': { [method]: operation } } };
  const headers = { authorization: () => `Bearer ${SECRET}` };
  const [tool] = fromOpenAPI(document, { allow: ['*'], baseUrl, headers, ...changes });
  return tool!;
}

async function call(tool: Tool, input: object, changes: object = {}): Promise<unknown> {
  const parsed = tool.parse(input);
  if (!parsed.ok) throw new Error(parsed.message);
  const { signal } = new AbortController();
  const ctx = { callId: 'c', idempotencyKey: 'k', attempt: 1, signal, ...changes } as ToolContext;
  return tool.run(parsed.value, ctx);
}

const thrownBy = (running: Promise<unknown>) =>
  running.then(
    () => undefined,
    (error: Error) => error,
  );
const query = (...parameters: readonly object[]) => ({
  parameters: parameters.map((one) => ({ in: 'query', ...one })),
});
const refusal = (changes: Partial<OpenApiSettings>, document: object = DOCUMENT) => {
  try {
    fromOpenAPI(document, { allow: ['*'], baseUrl: 'https://a.example', ...changes });
  } catch (error) {
    return (error as Error).message;
  }
  return 'nothing was thrown';
};

test.each(['financial', 'send', 'unknown', 'permission', 'execute', 'commit'] as const)(
  'a PUT or DELETE with the effect %s is not sent twice without a word of a person',
  (effect) => {
    for (const method of ['put', 'delete']) {
      const { record } = only(method, { operationId: 'x' }, { effects: { x: effect } });
      expect([record.idempotency, record.onLost]).toEqual(['unknown', undefined]);
    }
  },
);

test('no header of the configuration stands in place of the key of a call', () => {
  const key = () => 'one-for-all';
  expect(refusal({ headers: { 'Idempotency-Key': key } })).toMatch(
    /Idempotency-Key for every call/,
  );
  const named = { idempotencyKeys: { addPet: 'X-Key' }, headers: { 'x-key': 'same' } };
  expect(refusal(named)).toMatch(/headers has x-key, the idempotency key of POST \/pets/);
});

test('an id that looks like a method and a path stands for no other operation', () => {
  const paths = {
    '/search': { post: {} },
    '/everything': { delete: { operationId: 'POST /search' } },
  };
  const document = { openapi: '3.1.0', paths };
  const effects = { 'POST /search': 'read' } as const;
  const made = fromOpenAPI(document, { allow: ['POST /search'], baseUrl, effects });
  expect(made.map(({ record }) => [record.name, record.effect])).toEqual([['post_search', 'read']]);
  const all = fromOpenAPI(document, { allow: ['*'], baseUrl, effects });
  expect(all.map(({ record }) => record.effect)).toEqual(['read', 'delete']);
});

test('that a DELETE only reads is said of its path', () => {
  expect(refusal({ effects: { removePet: 'read' } })).toMatch(
    /says read of removePet, which is DELETE/,
  );
  const made = only('delete', {}, { effects: { 'DELETE /a': 'read' } });
  expect(made.record.effect).toBe('read');
});

test('a secret goes only where the author says, and not in clear', () => {
  const headers = { authorization: () => SECRET };
  const public1 = { ...DOCUMENT, servers: [{ url: 'https://pets.example.com' }] };
  const from = (settings: object) =>
    fromOpenAPI(public1, { allow: ['getPet'], ...settings } as OpenApiSettings);
  expect(() => from({ headers })).toThrow(/no baseUrl/);
  expect(from({ headers: { 'x-version': '2' } })).toHaveLength(1);
  expect(refusal({ headers, baseUrl: 'http://a.example' })).toMatch(/plain http/);
});

test.each([
  'https://localhost./',
  'https://metadata.google.internal./',
  'https://vault/',
  'https://k.default.svc/',
])('the address %s of a document is not public', (url) => {
  const document = { ...DOCUMENT, servers: [{ url }] };
  expect(() => fromOpenAPI(document, { allow: ['getPet'] })).toThrow(/not public/);
});

describe('a secret that the service gives back', () => {
  const escaped = SECRET.replaceAll('/', '\\/').replaceAll('+', '\\u002B');
  const coded = Buffer.from(`>>${SECRET}<<`).toString('base64');

  test.each([
    ['escaped', `{"sent":"Bearer ${escaped}"}`],
    ['as a key', JSON.stringify({ [SECRET]: 1 })],
    ['in base64', JSON.stringify({ coded })],
    ['beside a number that is changed', `{"id":9007199254740993,"sent":"${escaped}"}`],
  ])('%s is hidden', async (_, body) => {
    answer = { ...answer, body };
    const told = JSON.stringify(await call(only('get', {}), {}));
    for (const form of [SECRET, coded, escaped, 'secret']) expect(told).not.toContain(form);
  });

  test('at the cut, in a type and as a part of a cookie is hidden', async () => {
    answer = { status: 200, body: `${'x'.repeat(95)}${SECRET}`, type: 'text/plain' };
    const cut = await call(only('get', {}, { maxResultBytes: 100 }), {});
    expect(cut).toBe(`${'x'.repeat(95)}\n[cut off: 100 bytes kept]`);
    answer = { status: 200, body: '', type: 'image/png; t=s3cr3tvalue' };
    const headers = { cookie: () => 'sid=s3cr3tvalue; lang=en' };
    const told = await call(only('get', {}, { headers }), {});
    expect(JSON.stringify(told)).not.toContain('s3cr3tvalue');
  });
});

test('a large number stays as it was written', async () => {
  answer = { ...answer, body: '{"id":9007199254740993}' };
  expect(await call(only('get', {}), {})).toEqual({ id: '9007199254740993' });
});

test('a GET that changes something and leads elsewhere is in doubt', async () => {
  answer = { ...answer, status: 302, location: 'https://other.example/bye' };
  const tool = only('get', { operationId: 'x' }, { effects: { x: 'write' } });
  expect(isToolError(await thrownBy(call(tool, {})))).toBe(false);
  expect(isToolError(await thrownBy(call(only('get', {}), {})))).toBe(true);
});

describe('an argument', () => {
  test('that is an object writes no other parameter', async () => {
    const fields = [
      { name: 'filter', schema: { type: 'object', additionalProperties: {} } },
      { name: 'limit', schema: { type: 'integer', maximum: 10 } },
    ];
    const error = await thrownBy(call(only('get', query(...fields)), { filter: { limit: 99 } }));
    expect(isToolError(error) && error.message).toContain('another parameter');
    expect(asked).toEqual([]);
  });

  test('has no fields that its schema does not declare, nor those that only the service writes', async () => {
    const User = {
      type: 'object',
      properties: { name: { type: 'string' }, balance: { type: 'integer', readOnly: true } },
    };
    const content = { 'application/json': { schema: User } };
    const tool = only('put', { requestBody: { required: true, content } });
    await call(tool, { body: { name: 'x', balance: 1_000_000, role: 'admin' }, more: 1 });
    expect(asked[0]?.body).toBe('{"name":"x"}');
  });

  test('that all objects have by inheritance is not sent', async () => {
    const { run } = only('get', query({ name: 'constructor', schema: { type: 'string' } }));
    const signal = new AbortController().signal;
    await run({}, { attempt: 1, signal } as ToolContext);
    expect(asked[0]?.url).toBe('/a');
  });

  test.each([
    ['pipeDelimited', '/a?ids=1%7C2'],
    ['spaceDelimited', '/a?ids=1%202'],
    ['form', '/a?ids=1&ids=2'],
  ])('in the style %s is written as OpenAPI says', async (style, url) => {
    const schema = { type: 'array', items: { type: 'integer' }, uniqueItems: true };
    const tool = only('get', query({ name: 'ids', style, schema }));
    await call(tool, { ids: [1, 2] });
    expect(asked[0]?.url).toBe(url);
    expect(JSON.stringify(tool.inputSchema)).toContain('Each item stands once.');
  });

  test('with commas is told apart from two arguments', async () => {
    const tool = only('get', query({ name: 'n', explode: false, schema: { type: 'array' } }));
    await call(tool, { n: ['a,b', 'c'] });
    expect(asked[0]?.url).toBe('/a?n=a%2Cb,c');
  });

  test('of a form is written as its encoding says', async () => {
    const encoding = { metadata: { style: 'deepObject', explode: true } };
    const content = {
      'application/x-www-form-urlencoded': { schema: { type: 'object' }, encoding },
    };
    await call(only('post', { requestBody: { content } }), { body: { metadata: { a: { b: 1 } } } });
    expect(asked[0]?.body).toBe('metadata%5Ba%5D%5Bb%5D=1');
    const other = { tags: { style: 'matrix' } };
    const bad = { 'application/x-www-form-urlencoded': { encoding: other } };
    expect(() => only('post', { requestBody: { content: bad } })).toThrow(/not known/);
  });

  test('that extends an object keeps the fields of a map', () => {
    const map = { type: 'object', additionalProperties: { type: 'string' } };
    const schema = { type: 'object', properties: { meta: { allOf: [map] } } };
    const content = { 'application/json': { schema } };
    const { parse } = only('post', { requestBody: { content } });
    const value = { body: { meta: { any: 'x' } } };
    expect(parse(value)).toEqual({ ok: true, value });
  });
});

test('a body of a GET is left out, or refused where it is needed', () => {
  const content = { 'application/json': { schema: { type: 'object' } } };
  expect(only('get', { requestBody: { content } }).inputSchema).toMatchObject({ properties: {} });
  expect(() => only('get', { requestBody: { content, required: true } })).toThrow(/has none/);
});

test('an operation at an address of its own is refused', () => {
  const servers = [{ url: 'https://uploads.example' }];
  expect(() => only('post', { servers })).toThrow(/not where the other requests go/);
});

test('an effect among the settings of a tool is refused, and told where it belongs', () => {
  const tools = { addPet: { effect: 'financial' } } as never;
  expect(refusal({ tools })).toMatch(/the field "effect", which there is not/);
});

describe('a call of which nothing was sent', () => {
  const thrown = (error: object) => {
    const send = () => Promise.reject(new TypeError('fetch failed', { cause: error }));
    return thrownBy(call(only('post', {}, { fetch: send as typeof fetch }), {}));
  };
  const at = (code: string, more: object = {}) => Object.assign(new Error(code), { code, ...more });

  test.each<[string, object, boolean]>([
    ['no address answers', new AggregateError([at('ECONNREFUSED'), at('ENETUNREACH')]), true],
    ['connecting takes too long', at('ETIMEDOUT', { syscall: 'connect' }), true],
    ['the certificate is no good', at('CERT_HAS_EXPIRED'), true],
    ['the answer takes too long', at('ETIMEDOUT', { syscall: 'read' }), false],
    ['the host goes away', at('EHOSTUNREACH', { syscall: 'read' }), false],
    [
      'one address took the request',
      new AggregateError([at('ECONNREFUSED'), at('ECONNRESET')]),
      false,
    ],
  ])('because %s: nothing happened is %j', async (_, error, nothing) => {
    expect(isToolError(await thrown(error))).toBe(nothing);
  });

  test('because its header took too long, has done nothing', async () => {
    const stop = new AbortController();
    const headers = { authorization: () => new Promise<string>(() => undefined) };
    const running = call(only('post', {}, { headers }), {}, { signal: stop.signal });
    stop.abort();
    expect(isToolError(await thrownBy(running))).toBe(true);
    expect(asked).toEqual([]);
  });
});
