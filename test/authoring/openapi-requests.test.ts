/** What is sent of the arguments that a model says, and what is not. */
import { isToolError } from '../../authoring/tool-error.js';
import type { Tool } from '../../index.js';
import { errorOf } from './error-of.js';
import { called, context, fake, made, paths, thrownBy } from './openapi-fake.js';

const text = { type: 'string' };

/** The tool of one operation, and what it sent. */
function one(method: string, operation: object, path = '/a') {
  const { fetch, sent } = fake();
  const [tool] = made(paths({ [path]: { [method]: operation } }), { fetch });
  return { tool, sent };
}

function query(...parameters: object[]) {
  return one('get', { parameters: parameters.map((given) => ({ in: 'query', ...given })) });
}

function form(schema: object, encoding?: object) {
  const content = {
    'application/x-www-form-urlencoded': { schema, ...(encoding && { encoding }) },
  };
  return one('post', { requestBody: { content } });
}

const queryOf = (url: string | undefined) => url?.split('?')[1] ?? '';

async function refusedBy(tool: Tool | undefined, input: object): Promise<string> {
  const error = await thrownBy(called(tool, input));
  if (!isToolError(error)) throw new Error('it was no ToolError');
  return error.message;
}

test('a list of distinct items is told in words', async () => {
  const { tool } = query({
    name: 'ids',
    schema: { type: 'array', items: text, uniqueItems: true },
  });
  expect(tool?.inputSchema).toMatchObject({
    properties: { ids: { type: 'array', description: 'Each item stands once.' } },
  });
});

test.each([
  ['../../admin/keys'],
  ['..\\..\\admin'],
  ['a/..'],
  ['./a'],
  ['%2e%2e%2fadmin'],
  ['..;/admin'],
])('%s climbs nowhere within a path', async (id) => {
  const { tool, sent } = one('get', { parameters: [{ name: 'id', in: 'path' }] }, '/pets/{id}');
  expect(await refusedBy(tool, { id })).toContain('change the path');
  await called(tool, { id: 'a/b..c' });
  expect(sent.map(({ url }) => url)).toEqual(['https://a.example/v1/pets/a%2Fb..c']);
});

describe('a body', () => {
  const user = {
    type: 'object',
    properties: { name: text, balance: { type: 'integer', readOnly: true } },
  };
  const json = (schema: object) =>
    one('post', { requestBody: { content: { 'application/json': { schema } } } });
  const all = { name: 'x', balance: 1_000_000, role: 'admin' };

  test.each<[string, object, object, object]>([
    ['an object', user, all, { name: 'x' }],
    ['an open object', { ...user, additionalProperties: true }, all, { name: 'x' }],
    ['a list', { type: 'array', items: user }, [all] as object, [{ name: 'x' }] as object],
    [
      'objects in one',
      { allOf: [user, { properties: { age: {} } }] },
      { ...all, age: 1 },
      { name: 'x', age: 1 },
    ],
    ['one of two', { oneOf: [user, { type: 'null' }] }, all, { name: 'x' }],
    [
      'an object that needs one of two fields',
      { ...user, anyOf: [{ required: ['name'] }, { required: ['id'] }] },
      all,
      { name: 'x' },
    ],
    [
      'an object within',
      { type: 'object', properties: { user } },
      { user: all },
      { user: { name: 'x' } },
    ],
  ])('has of %s what its schema declares', async (_, schema, body, sent) => {
    const made = json(schema);
    await called(made.tool, { body });
    expect(JSON.parse(made.sent[0]?.body ?? '')).toEqual(sent);
  });

  test.each<[string, object]>([
    ['an object of any fields', { type: 'object' }],
    ['a map', { type: 'object', additionalProperties: text }],
    ['a map by another name', { allOf: [{ type: 'object', additionalProperties: text }] }],
    ['anything', {}],
  ])('has all of %s', async (_, schema) => {
    const made = json({ type: 'object', properties: { metadata: schema } });
    const body = { metadata: { a: 'b' } };
    await called(made.tool, { body });
    expect(JSON.parse(made.sent[0]?.body ?? '')).toEqual(body);
  });

  test('of a GET is left out, and refused where it is required', () => {
    const requestBody = { content: { 'application/json': { schema: { type: 'object' } } } };
    expect(one('get', { requestBody }).tool?.inputSchema).toMatchObject({ properties: {} });
    const needed = { requestBody: { ...requestBody, required: true } };
    expect(errorOf(() => one('get', needed)).message).toMatch(/a GET has none/);
  });
});

describe('a query', () => {
  const list = { type: 'array', items: text };
  test.each<[string, object, string]>([
    ['form', {}, 'ids=a%2Cb&ids=c'],
    ['form in one', { explode: false }, 'ids=a%2Cb,c'],
    ['pipes', { style: 'pipeDelimited' }, 'ids=a%2Cb%7Cc'],
    ['spaces', { style: 'spaceDelimited' }, 'ids=a%2Cb%20c'],
    ['pipes, each by itself', { style: 'pipeDelimited', explode: true }, 'ids=a%2Cb&ids=c'],
  ])('writes a list as %s', async (_, style, expected) => {
    const { tool, sent } = query({ name: 'ids', schema: list, ...style });
    await called(tool, { ids: ['a,b', 'c'] });
    expect(queryOf(sent[0]?.url)).toBe(expected);
  });

  test('has no argument that writes another one', async () => {
    const open = { type: 'object', additionalProperties: text };
    const limit = { name: 'limit', schema: { type: 'integer', maximum: 100 } };
    const { tool, sent } = query({ name: 'filter', schema: open }, limit);
    for (const filter of [{ limit: '9999' }, { LIMIT: '9999' }, { 'limit[]': '9999' }]) {
      expect(await refusedBy(tool, { filter })).toContain('another parameter');
    }
    await called(tool, { filter: { color: 'red' }, limit: 3 });
    expect(queryOf(sent[0]?.url)).toBe('color=red&limit=3');
    const closed = query({ name: 'filter', schema: { type: 'object' } });
    expect(await refusedBy(closed.tool, { filter: { account: 'other' } })).toContain(
      'does not name',
    );
  });

  test('has fields of an object in brackets, of lists and objects within as well', async () => {
    const { tool, sent } = query({
      name: 'filter',
      style: 'deepObject',
      schema: { type: 'object' },
    });
    await called(tool, { filter: { a: 1, b: ['x', { c: 'y' }] } });
    expect(decodeURIComponent(queryOf(sent[0]?.url))).toBe(
      'filter[a]=1&filter[b][0]=x&filter[b][1][c]=y',
    );
    expect(await refusedBy(tool, { filter: { 'a][b': 1 } })).toContain('bracket');
  });
});

describe('a form', () => {
  const schema = {
    type: 'object',
    properties: { metadata: { type: 'object' }, ids: { type: 'array' }, raw: { type: 'object' } },
  };
  test('is written as its document says', async () => {
    const encoding = { metadata: { style: 'deepObject', explode: true }, ids: { explode: false } };
    const { tool, sent } = form(schema, encoding);
    await called(tool, { body: { metadata: { order: '1' }, ids: [1, 2], raw: { a: 1 } } });
    expect(sent[0]?.body).toBe('metadata%5Border%5D=1&ids=1,2&raw=%7B%22a%22%3A1%7D');
  });

  test('of another kind is refused', () => {
    const attempt = (raw: object) => () => form(schema, { raw });
    expect(errorOf(attempt({ style: 'matrix' })).message).toContain('style');
    expect(errorOf(attempt({ contentType: 'image/png' })).message).toContain('image/png');
  });
});

test('an operation at another address is refused, and made where that is the address', () => {
  const servers = [{ url: 'https://uploads.example' }];
  const given = paths(
    { '/a': { servers, post: {} } },
    { servers: [{ url: 'https://api.example' }] },
  );
  expect(errorOf(() => made(given, { baseUrl: 'https://api.example' })).message).toMatch(/uploads/);
  expect(made(given, { baseUrl: 'https://uploads.example/' })).toHaveLength(1);
  const same = paths({ '/a': { servers, post: {} } }, { servers });
  expect(made(same, { baseUrl: 'http://127.0.0.1:1' })).toHaveLength(1);
});

describe('nothing was sent', () => {
  const document = paths({ '/a': { post: { operationId: 'add' } } });
  const failing = (error: unknown) =>
    made(document, {
      fetch: () => Promise.reject(new TypeError('fetch failed', { cause: error })),
    })[0];
  const fault = (code: string, syscall?: string) =>
    Object.assign(new Error(code), { code, syscall });

  test.each<[string, unknown, boolean]>([
    [
      'where two addresses were not reached',
      new AggregateError([fault('ECONNREFUSED', 'connect'), fault('ENETUNREACH', 'connect')]),
      true,
    ],
    [
      'where no connection came about in time',
      new AggregateError([fault('ETIMEDOUT', 'connect')]),
      true,
    ],
    ['where nobody proved to be the service', fault('DEPTH_ZERO_SELF_SIGNED_CERT'), true],
    ['is not said where a connection broke', fault('EHOSTUNREACH', 'read'), false],
    [
      'is not said where one of two broke',
      new AggregateError([fault('ECONNREFUSED'), fault('ECONNRESET')]),
      false,
    ],
    ['is not said without a code', new Error('?'), false],
  ])('%s', async (_, cause, isUnsent) => {
    const error = await thrownBy(called(failing(cause), {}));
    expect(error).toBeInstanceOf(Error);
    expect(isToolError(error)).toBe(isUnsent);
  });

  test('when the call was given up while a header was made', async () => {
    const { fetch, sent } = fake();
    const stop = new AbortController();
    const headers = { authorization: () => new Promise<string>(() => undefined) };
    const [tool] = made(document, { fetch, headers });
    const running = thrownBy(called(tool, {}, context({ signal: stop.signal })));
    stop.abort(new Error('given up'));
    expect(isToolError(await running)).toBe(true);
    const late = { authorization: () => 'secret-of-pets' };
    const [other] = made(document, { fetch, headers: late });
    const stopped = context({ signal: AbortSignal.abort() });
    expect(isToolError(await thrownBy(called(other, {}, stopped)))).toBe(true);
    expect(sent).toEqual([]);
  });
});

test('an id that no number holds is a text', async () => {
  const body =
    '{"id":9007199254740993,"n":[-12345678901234567890,1.5e300],"t":"9007199254740993 \\" 12345678901234567890"}';
  const { fetch } = fake(
    () => new Response(body, { headers: { 'content-type': 'application/json' } }),
  );
  const [tool] = made(paths({ '/a': { get: {} } }), { fetch });
  expect(await called(tool, {})).toEqual({
    id: '9007199254740993',
    n: ['-12345678901234567890', 1.5e300],
    t: '9007199254740993 " 12345678901234567890',
  });
});

test('null in a query or a header is a parameter that is left out', async () => {
  const nullable = { type: ['string', 'null'] };
  const { tool, sent } = query(
    { name: 'q', schema: nullable },
    { name: 'x-trace', in: 'header', schema: nullable },
    { name: 'as', content: { 'application/json': { schema: nullable } } },
  );
  await called(tool, { q: null, 'x-trace': null, as: null });
  expect(queryOf(sent[0]?.url)).toBe('as=null');
});
