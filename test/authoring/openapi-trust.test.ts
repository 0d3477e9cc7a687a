/** What a document, a service and a configuration of one's own cannot bring about by mistake. */
import { isToolError } from '../../authoring/tool-error.js';
import type { OpenApiSettings } from '../../index.js';
import { errorOf } from './error-of.js';
import { called, fake, made, paths, thrownBy } from './openapi-fake.js';

type Changes = Partial<OpenApiSettings>;

const transfer = paths({
  '/transfers/{id}': {
    put: { parameters: [{ name: 'id', in: 'path', schema: { type: 'string' } }] },
    delete: { parameters: [{ name: 'id', in: 'path', schema: { type: 'string' } }] },
  },
});

describe('a lost call is sent again', () => {
  const PUT = 'PUT /transfers/{id}';
  const DELETE = 'DELETE /transfers/{id}';
  const keys = { [PUT]: 'Idempotency-Key' };

  test.each<[string, string, Changes, string, string | undefined]>([
    ['where PUT writes', PUT, {}, 'keyed', 'repeat_with_key'],
    ['where DELETE deletes', DELETE, {}, 'keyed', 'repeat_with_key'],
    ['never where PUT sends money', PUT, { effects: { [PUT]: 'financial' } }, 'unknown', undefined],
    ['never where PUT sends words', PUT, { effects: { [PUT]: 'send' } }, 'unknown', undefined],
    ['never where DELETE does', DELETE, { effects: { [DELETE]: 'execute' } }, 'unknown', undefined],
    [
      'by a person alone where money has a key',
      PUT,
      { effects: { [PUT]: 'financial' }, idempotencyKeys: keys },
      'keyed',
      undefined,
    ],
  ])('%s', (_, key, changes, idempotency, onLost) => {
    const [tool] = made(transfer, { allow: [key], ...changes });
    expect(tool?.record.idempotency).toBe(idempotency);
    expect(tool?.record.onLost).toBe(onLost);
  });
});

describe('a configuration is refused', () => {
  const keyed = paths({
    '/a': { post: { operationId: 'pay' } },
    '/b': { post: { parameters: [{ name: 'Idempotency-Key', in: 'header' }] } },
  });
  const secret = { 'x-api-key': () => 'secret-of-pets' };

  test.each<[string, Changes, RegExp]>([
    [
      'whose header stands where the key of a call goes',
      { headers: { 'X-KEY': () => 'k' }, idempotencyKeys: { pay: 'X-Key' } },
      /x-key, the idempotency key of POST \/a/,
    ],
    [
      'whose header is the key of every call',
      { headers: { 'idempotency-key': 'k' } },
      /sets Idempotency-Key for every call/,
    ],
    ['that leaves the place of a secret to the document', { headers: secret }, /no baseUrl/],
    [
      'that sends a secret in clear',
      { headers: secret, baseUrl: 'http://a.example' },
      /plain http and a header is a secret/,
    ],
    [
      'with an effect at the wrong place',
      { tools: { pay: { effect: 'read' } as object } },
      /"effect"/,
    ],
    ['with a field of no effect', { tools: { pay: { run: 1 } as object } }, /"run"/],
  ])('%s', (_, changes, message) => {
    const document = { ...keyed, servers: [{ url: 'https://evil.example' }] };
    const baseUrl = changes.headers === secret ? undefined : 'https://a.example';
    const error = errorOf(() => made(document, { baseUrl: baseUrl as string, ...changes }));
    expect(error.message).toMatch(message);
    expect(error.hint).toBeTruthy();
  });

  test.each([
    ['https://localhost./'],
    ['https://metadata.google.internal./'],
    ['https://vault/'],
    ['https://kubernetes.default.svc/'],
    ['https://nas.lan'],
    ['https://nas.home.arpa'],
  ])('whose document alone names %s', (url) => {
    const document = { ...keyed, servers: [{ url }] };
    const settings = { baseUrl: undefined as unknown as string };
    expect(errorOf(() => made(document, settings)).message).toMatch(/not public/);
  });
});

describe('an operationId', () => {
  const document = paths({
    '/search': { post: {} },
    '/everything': { delete: { operationId: 'POST /search' } },
    '/pets': { get: { operationId: 'listPets' }, put: { operationId: 'setPets' } },
  });
  const namesOf = (allow: readonly string[]) => made(document, { allow }).map((one) => one.record);

  test('that looks like a method and a path stands for none', () => {
    const effects = { 'POST /search': 'read' } as const;
    const [tool, more] = made(document, { allow: ['POST /search'], effects });
    expect(tool?.description).toBe('POST /search');
    expect(more).toBeUndefined();
    expect(namesOf(['POST *'])).toHaveLength(1);
    expect(namesOf(['list*'])).toMatchObject([{ name: 'listPets' }]);
    expect(namesOf(['*'])).toHaveLength(4);
  });

  test('of a method that changes something is none that only reads', () => {
    const attempt = (effects: Changes['effects']) => () =>
      made(document, { allow: ['setPets'], effects: effects ?? {} });
    expect(errorOf(attempt({ setPets: 'read' })).message).toContain('setPets, which is PUT /pets');
    expect(attempt({ 'PUT /pets': 'read' })()).toMatchObject([{ record: { effect: 'read' } }]);
  });

  test('that two allowed operations have is refused', () => {
    const id = 'x'.repeat(80);
    const twice = paths({ '/a': { get: { operationId: id }, delete: { operationId: id } } });
    expect(errorOf(() => made(twice)).message).toMatch(/two allowed operations/);
    expect(made(twice, { allow: ['GET /a'] })).toHaveLength(1);
  });
});

describe('a secret that a service gives back', () => {
  const document = paths({ '/a': { get: {} } });
  const JSON_TYPE = { 'content-type': 'application/json' };
  const coded = Buffer.from('anna:pass-word-9').toString('base64');

  test.each<[string, string, string, Record<string, string>, string]>([
    [
      'as PHP writes it',
      'Bearer ab/cdefgh==',
      String.raw`{"a":"Bearer ab\/cdefgh=="}`,
      JSON_TYPE,
      'cdefgh',
    ],
    ['as .NET writes it', 'abc+defgh', String.raw`{"a":"abc\u002Bdefgh"}`, JSON_TYPE, 'defgh'],
    ['as .NET writes it, in a text', 'abc+defgh', String.raw`abc\u002Bdefgh`, {}, 'defgh'],
    ['as a key', 'secret-of-pets', String.raw`{"secret\u002Dof-pets":1}`, JSON_TYPE, 'secret'],
    ['as a number', '1234567890', '{"a":1234567890}', JSON_TYPE, '1234567890'],
    ['out of a cookie', 'sid=s3cr3tvalue; lang=en', 's3cr3tvalue', {}, 's3cr3t'],
    ['out of a name and password', `Basic ${coded}`, '{"p":"pass-word-9"}', JSON_TYPE, 'pass-word'],
    [
      'coded',
      'secret-of-the-pets',
      Buffer.from('x secret-of-the-pets').toString('base64'),
      {},
      'LW9mLXRoZS1wZX',
    ],
    [
      'in its type',
      'secret-of-pets',
      '',
      { 'content-type': 'image/png; t=secret-of-pets' },
      'secret-of',
    ],
    ['cut off', 'secret-of-pets', `${'x'.repeat(90)}secret-of-pets`, {}, 'secret'],
  ])('%s stands in no result', async (_, value, body, headers, trace) => {
    const { fetch } = fake(
      () => new Response(body, { headers: { 'content-type': 'text/plain', ...headers } }),
    );
    const settings = { fetch, headers: { authorization: () => value }, maxResultBytes: 100 };
    const result = JSON.stringify(await called(made(document, settings)[0], {}));
    expect(result).not.toContain(trace);
    expect(result).toMatch(/hidden|cut off/);
  });

  test('is hidden, and names beside it are not', async () => {
    const { fetch } = fake(() => Response.json({ session_id: 'Bearer', lang: 'en' }));
    const headers = { cookie: () => 'session_id=s3cr3tvalue; lang=en' };
    expect(await called(made(document, { fetch, headers })[0], {})).toEqual({
      session_id: 'Bearer',
      lang: 'en',
    });
  });
});

test.each([
  ['elsewhere', 'https://www.other.example/bye'],
  ['within the service', '/v1/bye'],
])('a GET that changes something and leads %s is in doubt, and sent once', async (_, location) => {
  const { fetch, sent } = fake(() => new Response(null, { status: 302, headers: { location } }));
  const document = paths({ '/unsubscribe': { get: { operationId: 'unsubscribe' } } });
  const [tool] = made(document, { fetch, effects: { unsubscribe: 'write' } });
  const error = await thrownBy(called(tool, {}));
  expect(error).toBeInstanceOf(Error);
  expect(isToolError(error)).toBe(false);
  expect(sent).toHaveLength(1);
});
