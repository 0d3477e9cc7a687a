/** Documents and settings that no tool is made of. */
import { fromOpenAPI, type OpenApiSettings } from '../../index.js';
import { DOCUMENT, one } from './openapi-pets.js';
import { errorOf } from './error-of.js';

type Changes = Partial<OpenApiSettings>;

describe('a document is refused', () => {
  const circle: Record<string, unknown> = { ...DOCUMENT };
  circle['x-self'] = circle;
  const bomb = Array.from({ length: 30 }, (_, i) => [
    `S${i}`,
    { type: 'object', properties: { a: ref(`S${i + 1}`), b: ref(`S${i + 1}`) } },
  ]);
  const query = (schema: object) => ({ parameters: [{ name: 'q', in: 'query', schema }] });
  const aliases = `openapi: 3.1.0\na: &a [x,x,x,x,x,x,x,x,x,x]\n${'bcdefghi'
    .split('')
    .map((name, i) => `${name}: &${name} [${Array(10).fill(`*${'abcdefgh'[i]}`).join(',')}]`)
    .join('\n')}\npaths: {}`;

  function ref(name: string): object {
    return { $ref: `#/components/schemas/${name}` };
  }

  test.each<[string, string | object, RegExp]>([
    ['of another version', { swagger: '2.0', paths: {} }, /version "2.0"/],
    ['that is no object', '[1]', /no object/],
    ['that is the path of its file', './pets.yaml', /a text and no object/],
    ['whose version is a number', 'openapi: 3.1\npaths: {}', /its version is a number/],
    ['that is neither JSON nor YAML', '{"a":', /line 1/],
    ['that is larger than 8 MiB', ' '.repeat(8 * 1024 * 1024 + 1), /larger than/],
    ['that holds itself', circle, /nests deeper/],
    ['whose aliases grow', aliases, /alias|parts/i],
    ['with a __proto__', '{"openapi":"3.1.0","paths":{"__proto__":{}}}', /__proto__/],
    ['with code', { openapi: '3.1.0', paths: { '/a': { get: { run: () => 1 } } } }, /no JSON/],
    ['that refers elsewhere', one('/a', query({ $ref: 'http://evil.example/s.json' })), /outside/],
    ['that refers to a file', one('/a', query({ $ref: '../../etc/passwd' })), /outside/],
    ['that refers to nothing', one('/a', query(ref('No'))), /not there/],
    [
      'that refers to what all objects have',
      one('/a', query({ $ref: '#/constructor' })),
      /not there/,
    ],
    [
      'that refers to itself',
      one('/a', { parameters: [{ $ref: '#/x' }] }, { x: { $ref: '#/x' } }),
      /itself/,
    ],
    [
      'whose schema doubles at each step',
      one('/a', query(ref('S0')), {
        components: { schemas: Object.fromEntries([...bomb, ['S30', { type: 'string' }]]) },
      }),
      /more than 4000 parts/,
    ],
    ['with a path that climbs', one('/../admin', {}), /not to be trusted/],
    ['with a path to another host', one('//evil.example/a', {}), /not to be trusted/],
    ['with a path that ends early', one('/a?b=1', {}), /not to be trusted/],
    ['with an encoded step', one('/%2e%2e/a', {}), /not to be trusted/],
    ['whose path has an unknown parameter', one('/a/{b}', {}), /declares no parameter "b"/],
    [
      'that wants a cookie',
      one('/a', { parameters: [{ name: 's', in: 'cookie', required: true }] }),
      /nothing is sent/,
    ],
    [
      'with a body that no model writes',
      {
        openapi: '3.1.0',
        paths: {
          '/a': { post: { requestBody: { required: true, content: { 'image/png': {} } } } },
        },
      },
      /no model writes/,
    ],
  ])('%s', (_, document, message) => {
    expect(
      errorOf(() => fromOpenAPI(document, { allow: ['*'], baseUrl: 'https://a.example' })),
    ).toMatchObject({
      code: 'InvalidTool',
      message: expect.stringMatching(message),
    });
  });

  test.each<[string, Changes, RegExp]>([
    ['nothing', { allow: [] }, /names no operation/],
    ['what is not there', { allow: ['listPet'] }, /"listPet", which is no operation/],
    [
      'an effect of what is not allowed',
      { allow: ['getPet'], effects: { addPet: 'read' } },
      /effects/,
    ],
    ['a field that there is not', { alow: [] } as Changes, /no field "alow"/],
    ['an address with a secret', { baseUrl: 'https://u:p@a.example' }, /more than a host/],
    ['a header that steers the connection', { headers: { Host: 'a' } }, /no header/],
    ['a header of two lines', { headers: { a: 'x\ny' } }, /neither a text/],
  ])('when its author says %s', (_, changes, message) => {
    expect(
      errorOf(() =>
        fromOpenAPI(DOCUMENT, { allow: ['*'], baseUrl: 'https://a.example', ...changes }),
      ).message,
    ).toMatch(message);
  });

  test.each([
    ['http://pets.example.com'],
    ['https://127.0.0.1/v1'],
    ['https://169.254.169.254'],
    ['https://metadata.internal'],
    ['/v1'],
    ['https://{host}/v1'],
  ])('whose only address is %s, which its author did not say', (url) => {
    const document = { ...DOCUMENT, servers: [{ url }] };
    expect(errorOf(() => fromOpenAPI(document, { allow: ['getPet'] })).message).toMatch(/address/);
  });
});
