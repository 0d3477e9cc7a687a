/** Operations of an OpenAPI document as tools, against a service on this machine. */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { stringify } from 'yaml';
import { isToolError } from '../../authoring/tool-error.js';
import type { ToolContext } from '../../authoring/tool.js';
import { fromOpenAPI, type OpenApiSettings, type Tool } from '../../index.js';
import { DOCUMENT } from './openapi-pets.js';

interface Heard {
  readonly method: string;
  readonly url: string;
  readonly headers: IncomingMessage['headers'];
  readonly body: string;
}

type Answer = (heard: Heard, response: ServerResponse) => void;

let server: Server;
let baseUrl: string;
let heard: Heard[];
let answer: Answer;

beforeAll(async () => {
  server = createServer((request, response) => {
    const parts: Buffer[] = [];
    request.on('data', (part: Buffer) => parts.push(part));
    request.on('end', () => {
      const { method = '', url = '', headers } = request;
      const one = { method, url, headers, body: Buffer.concat(parts).toString() };
      heard.push(one);
      answer(one, response);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`;
});
afterAll(() => {
  server.close();
  server.closeAllConnections();
});
beforeEach(() => {
  heard = [];
  answer = json(200, { ok: true });
});

function json(status: number, body: unknown, headers: Record<string, string> = {}): Answer {
  return (_, response) => {
    response.writeHead(status, { 'content-type': 'application/json', ...headers });
    response.end(JSON.stringify(body));
  };
}

const ctx = (changes: object = {}) =>
  ({
    callId: 'c1',
    idempotencyKey: 'key-1',
    attempt: 1,
    signal: new AbortController().signal,
    ...changes,
  }) as ToolContext;

type Changes = Partial<OpenApiSettings>;

function tools(changes: Changes = {}, document: string | object = DOCUMENT): readonly Tool[] {
  const headers = { 'x-api-key': () => 'secret-of-pets' };
  return fromOpenAPI(document, { allow: ['*'], baseUrl, headers, ...changes });
}

function tool(name: string, changes: Changes = {}): Tool {
  const found = tools(changes).find(({ record }) => record.name === name);
  if (found === undefined) throw new Error(`there is no ${name}`);
  return found;
}

async function call(one: Tool, input: object, context = ctx()): Promise<unknown> {
  const parsed = one.parse(input);
  if (!parsed.ok) throw new Error(parsed.message);
  return one.run(parsed.value, context);
}

const thrownBy = (running: Promise<unknown>) =>
  running.then(
    () => undefined,
    (e: Error) => e,
  );

/** An address where nobody listens. */
async function closedPort(): Promise<string> {
  const gone = createServer();
  await new Promise<void>((resolve) => gone.listen(0, '127.0.0.1', resolve));
  const { port } = gone.address() as AddressInfo;
  await new Promise((resolve) => gone.close(resolve));
  return `http://127.0.0.1:${port}`;
}

describe('what an operation becomes', () => {
  test.each([
    ['listPets', 'read', 'natural', 'never', undefined],
    ['head_pets_petId', 'read', 'natural', 'never', undefined],
    ['put_pets_petId', 'write', 'keyed', 'by_policy', 'repeat_with_key'],
    ['removePet', 'delete', 'keyed', { roles: [], quorum: 1 }, 'repeat_with_key'],
    ['addPet', 'unknown', 'unknown', { roles: [], quorum: 1 }, undefined],
    ['changePet', 'unknown', 'unknown', { roles: [], quorum: 1 }, undefined],
  ])('%s has the effect %s', (name, effect, idempotency, approval, onLost) => {
    const { record } = tool(name);
    expect(record).toMatchObject({ effect, idempotency, approval });
    expect(record.onLost).toBe(onLost);
  });

  test('the effect that its author says counts, and a key that its service honours', () => {
    const changes = {
      effects: { addPet: 'write', 'PUT /pets/{petId}': 'financial' },
      idempotencyKeys: { addPet: 'Idempotency-Key' },
      tools: { addPet: { approval: 'always', name: 'pets.add' } },
    } as const;
    expect(tool('pets.add', changes).record).toMatchObject({
      effect: 'write',
      idempotency: 'keyed',
      approval: { quorum: 1 },
    });
    const { record } = tool('put_pets_petId', changes);
    expect(record).toMatchObject({ effect: 'financial', idempotency: 'unknown' });
    expect(record.onLost).toBeUndefined();
  });

  test('only what is allowed is there, under names of a group', () => {
    const named = (allow: readonly string[]) =>
      tools({ allow, group: 'crm' }).map(({ record }) => record.name);
    expect(named(['getPet', 'GET /pets'])).toEqual(['crm.listPets', 'crm.getPet']);
    expect(named(['GET *'])).toEqual(['crm.listPets', 'crm.getPet']);
  });

  test('the model is told arguments without headers of the configuration, keys and expressions', () => {
    expect(tool('listPets').inputSchema).toEqual({
      type: 'object',
      properties: {
        tags: { type: 'array', items: { type: 'string' } },
        ids: { type: 'array' },
        filter: { type: 'object' },
        _top: { type: 'integer', maximum: 100, description: 'Default: 10.' },
        'X-Trace': { type: 'string' },
      },
    });
    expect(tool('listPets').description).toBe('Pets of the shop.\nGET /pets');
    const pet = (parent: object) => ({
      type: 'object',
      properties: {
        name: { type: 'string', maxLength: 20, description: 'Pattern: (a+)+$.' },
        born: { type: 'string', description: 'Format: date.' },
        parent,
      },
      required: ['name'],
    });
    expect(tool('addPet').inputSchema).toEqual({
      type: 'object',
      properties: { body: pet({ description: 'As the part above that holds it.' }) },
      required: ['body'],
    });
  });

  test('a document may be JSON, YAML, of 3.0, and names its own service', () => {
    const allow = ['getPet'];
    for (const text of [JSON.stringify(DOCUMENT), stringify(DOCUMENT)]) {
      expect(fromOpenAPI(text, { allow })).toHaveLength(1);
    }
    expect(fromOpenAPI({ ...DOCUMENT, openapi: '3.0.3' }, { allow })).toHaveLength(1);
  });

  test('words of 3.0 become JSON Schema', () => {
    const schema = {
      allOf: [
        { type: 'object', properties: { a: { type: 'integer', nullable: true } }, required: ['a'] },
        {
          type: 'object',
          properties: { b: { type: 'number', minimum: 0, exclusiveMinimum: true } },
        },
      ],
    };
    const content = { 'application/json': { schema } };
    const document = { openapi: '3.0.0', paths: { '/a': { post: { requestBody: { content } } } } };
    const [made] = tools({}, document);
    expect(made?.inputSchema).toMatchObject({
      properties: {
        body: {
          type: 'object',
          required: ['a'],
          properties: { a: { type: ['integer', 'null'] }, b: { exclusiveMinimum: 0 } },
        },
      },
    });
    expect(made?.parse({ body: { a: null, b: 1 } })).toMatchObject({ ok: true });
    expect(made?.parse({ body: { a: 1, b: 0 } })).toMatchObject({ ok: false });
  });
});

describe('a request', () => {
  test('has its arguments at their places', async () => {
    const input = {
      tags: ['a b', 'c'],
      ids: [1, 2],
      filter: { age: 3 },
      _top: 5,
      'X-Trace': 't',
    };
    expect(await call(tool('listPets'), input)).toEqual({ ok: true });
    expect(heard[0]).toMatchObject({
      method: 'GET',
      url: '/v1/pets?tags=a%20b&tags=c&ids=1,2&filter%5Bage%5D=3&%24top=5',
      headers: { 'x-trace': 't', 'x-api-key': 'secret-of-pets' },
    });
    await call(tool('changePet'), { petId: 'a/b?c#d', body: { x: 1, y: ['z', 'é'] } });
    expect(heard[1]).toMatchObject({
      url: '/v1/pets/a%2Fb%3Fc%23d',
      body: 'x=1&y=z&y=%C3%A9',
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
    });
  });

  test('has the key of its call where the document or the author asks for one', async () => {
    await call(tool('addPet'), { body: { name: 'Rex' } });
    const idempotencyKeys = { removePet: 'X-Request-Id' };
    await call(tool('removePet', { idempotencyKeys }), { petId: '1' });
    expect(heard[0]).toMatchObject({
      headers: { 'idempotency-key': 'key-1' },
      body: '{"name":"Rex"}',
    });
    expect(heard[1]?.headers['x-request-id']).toBe('key-1');
  });

  test.each([['..'], ['.'], [''], ['\ud800'], ['../../admin'], ['a/..\\b']])(
    'with %j in its path is not sent',
    async (petId) => {
      const error = await thrownBy(call(tool('getPet'), { petId }));
      expect(isToolError(error)).toBe(true);
      expect(heard).toEqual([]);
    },
  );

  test('with a line break in a header is not sent', async () => {
    const error = await thrownBy(call(tool('listPets'), { 'X-Trace': 'a\r\nx-admin: 1' }));
    expect(isToolError(error) && error.message).toContain('cannot stand in a header');
    expect(heard).toEqual([]);
  });

  test.each<[string, () => string | undefined]>([
    [
      'throws',
      () => {
        throw new Error('secret-of-pets');
      },
    ],
    ['gives nothing', () => undefined],
    ['gives two lines', () => 'secret-of-pets\r\nx: 1'],
  ])(
    'is not sent when the function of a header %s, and no words tell the value',
    async (_, give) => {
      const headers = { 'x-api-key': give };
      const error = await thrownBy(call(tool('getPet', { headers }), { petId: '1' }));
      expect(error).toMatchObject({ name: 'ToolError', code: 'tool_unavailable' });
      expect(error?.message).not.toContain('secret-of-pets');
      expect(heard).toEqual([]);
    },
  );

  test('follows a read within its own origin alone', async () => {
    answer = ({ url }, response) => {
      const location = url === '/v1/pets/1' ? '/v1/pets/2' : 'http://localhost:1/steal';
      const isLast = url === '/v1/pets/2';
      return isLast
        ? json(200, 'two')(heard[0]!, response)
        : json(302, '', { location })(heard[0]!, response);
    };
    expect(await call(tool('getPet'), { petId: '1' })).toBe('two');
    const error = await thrownBy(call(tool('getPet'), { petId: '3' }));
    expect(isToolError(error) && error.message).toContain('not followed');
    const moved = await thrownBy(call(tool('addPet'), { body: { name: 'Rex' } }));
    expect(isToolError(moved)).toBe(false);
  });
});

describe('an answer', () => {
  test.each<[string, Answer, unknown]>([
    ['as text', (_, r) => r.end('plain'), 'plain'],
    ['without a body', (_, r) => r.writeHead(204).end(), { status: 204 }],
    [
      'that is no text',
      (_, r) => r.writeHead(200, { 'content-type': 'image/png' }).end('x'),
      { status: 200, contentType: 'image/png', note: 'The answer is no text and was not read.' },
    ],
    [
      'that says it is JSON',
      (_, r) => r.writeHead(200, { 'content-type': 'application/json' }).end('{'),
      '{',
    ],
    [
      'that is too long',
      json(200, 'x'.repeat(300)),
      `"${'x'.repeat(99)}\n[cut off: 100 bytes kept]`,
    ],
    [
      'that gives the secret back',
      json(200, { a: '-secret-of-pets-' }),
      { a: expect.not.stringContaining('secret-of') },
    ],
  ])('%s is a result', async (_, given, result) => {
    answer = given;
    expect(await call(tool('getPet', { maxResultBytes: 100 }), { petId: '1' })).toEqual(result);
  });

  const table = [
    // status, of a read, of what may change something
    [400, 'execution_error', 'execution_error'],
    [401, 'tool_unavailable', 'tool_unavailable'],
    [404, 'execution_error', 'execution_error'],
    [408, 'retryable_error', 'doubt'],
    [409, 'execution_error', 'doubt'],
    [425, 'retryable_error', 'retryable_error'],
    [429, 'retryable_error', 'retryable_error'],
    [500, 'retryable_error', 'doubt'],
    [503, 'retryable_error', 'doubt'],
    [303, 'execution_error', 'doubt'],
    [307, 'execution_error', 'execution_error'],
  ] as const;
  test.each(table)(
    'of status %i is %s of a read and %s of an effect',
    async (status, read, effect) => {
      answer = json(status, { why: 'secret-of-pets' });
      const codeOf = async (running: Promise<unknown>) => {
        const error = await thrownBy(running);
        expect(error?.message).toContain(`status ${status}`);
        expect(error?.message).not.toContain('secret-of-pets');
        return isToolError(error) ? error.code : 'doubt';
      };
      expect(await codeOf(call(tool('getPet'), { petId: '1' }))).toBe(read);
      expect(await codeOf(call(tool('addPet'), { body: { name: 'Rex' } }))).toBe(effect);
    },
  );

  test('that never comes leaves an effect in doubt, and a read is tried again', async () => {
    answer = (_, response) => response.destroy();
    const lost = await thrownBy(call(tool('addPet'), { body: { name: 'Rex' } }));
    expect(isToolError(lost)).toBe(false);
    const read = await thrownBy(call(tool('getPet'), { petId: '1' }));
    expect(read).toMatchObject({ code: 'retryable_error' });
    const nobody = { baseUrl: await closedPort() };
    const unsent = await thrownBy(call(tool('addPet', nobody), { body: { name: 'Rex' } }));
    expect(unsent).toMatchObject({ code: 'retryable_error' });
  });

  test('that breaks off after its status says that the effect is done', async () => {
    answer = (_, response) => {
      response.writeHead(201, { 'content-type': 'application/json', 'content-length': '100' });
      response.write('{"id":');
      setImmediate(() => response.destroy());
    };
    const input = { body: { name: 'Rex' } };
    expect(await call(tool('addPet'), input)).toMatchObject({ status: 201 });
    expect(await thrownBy(call(tool('getPet'), { petId: '1' }))).toMatchObject({
      code: 'retryable_error',
    });
  });

  test('that a thing is gone is the end of a deletion that was sent before', async () => {
    answer = json(404, {});
    const again = call(tool('removePet'), { petId: '1' }, ctx({ attempt: 2 }));
    expect(await again).toMatchObject({ status: 404 });
    expect(isToolError(await thrownBy(call(tool('removePet'), { petId: '1' })))).toBe(true);
  });
});
