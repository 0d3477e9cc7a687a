/** A document of OpenAPI that tests make tools of. */

const PET = { $ref: '#/components/schemas/Pet' };
export const DOCUMENT = {
  openapi: '3.1.0',
  info: { title: 'Pets', version: '1' },
  servers: [{ url: 'https://pets.example.com/v1' }],
  paths: {
    '/pets': {
      get: {
        operationId: 'listPets',
        summary: 'Pets of the shop.',
        parameters: [
          { name: 'tags', in: 'query', schema: { type: 'array', items: { type: 'string' } } },
          { name: 'ids', in: 'query', explode: false, schema: { type: 'array' } },
          { name: 'filter', in: 'query', style: 'deepObject', schema: { type: 'object' } },
          { name: '$top', in: 'query', schema: { type: 'integer', default: 10, maximum: 100 } },
          { name: 'X-Trace', in: 'header', schema: { type: 'string' } },
          { name: 'Authorization', in: 'header', schema: { type: 'string' } },
          { name: 'X-Api-Key', in: 'header', required: true, schema: { type: 'string' } },
        ],
      },
      post: {
        operationId: 'addPet',
        parameters: [{ name: 'Idempotency-Key', in: 'header', required: true }],
        requestBody: { required: true, content: { 'application/json': { schema: PET } } },
      },
    },
    '/pets/{petId}': {
      parameters: [{ name: 'petId', in: 'path', required: true, schema: { type: 'string' } }],
      get: { operationId: 'getPet' },
      head: {},
      put: { requestBody: { content: { 'application/json': { schema: PET } } } },
      delete: { operationId: 'removePet' },
      patch: {
        operationId: 'changePet',
        requestBody: {
          content: { 'application/x-www-form-urlencoded': { schema: { type: 'object' } } },
        },
      },
    },
  },
  components: {
    schemas: {
      Pet: {
        type: 'object',
        required: ['id', 'name'],
        properties: {
          id: { type: 'integer', readOnly: true },
          name: { type: 'string', pattern: '(a+)+$', maxLength: 20 },
          born: { type: 'string', format: 'date' },
          parent: PET,
        },
      },
    },
  },
};

/** A document of one operation. */
export function one(path: string, operation: object, more: object = {}): object {
  return { openapi: '3.0.3', paths: { [path]: { get: operation } }, ...more };
}
