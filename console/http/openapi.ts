/** The OpenAPI document, made of the declarations that the routes themselves are made of. */
import { z } from 'zod';
import type { Endpoint } from './endpoint.js';

type Schema = z.core.JSONSchema.BaseSchema;

const PROBLEMS: Readonly<Record<number, string>> = {
  400: 'The request is not valid.',
  401: 'Not logged in.',
  403: 'Not allowed.',
  404: 'Not there, or not yours.',
  409: 'Not possible now.',
  413: 'Too large.',
  415: 'Not JSON.',
  422: 'The Idempotency-Key was used for another request.',
  429: 'Too many requests.',
  503: 'Not available now.',
};

export function openApiDocument(endpoints: readonly Endpoint[], version: string): object {
  const paths: Record<string, Record<string, object>> = {};
  for (const endpoint of endpoints) {
    paths[endpoint.path] = { ...paths[endpoint.path], [endpoint.method]: operationOf(endpoint) };
  }
  return {
    openapi: '3.1.0',
    info: { title: 'Holdfast approval desk', version },
    security: [{ bearer: [] }],
    paths,
    components: {
      securitySchemes: { bearer: { type: 'http', scheme: 'bearer' } },
      schemas: { Problem: PROBLEM },
    },
  };
}

function operationOf(endpoint: Endpoint): object {
  const { body, idempotent } = endpoint;
  return {
    operationId: endpoint.name,
    summary: endpoint.summary,
    parameters: [
      ...parametersOf(endpoint.params, 'path'),
      ...parametersOf(endpoint.query, 'query'),
      ...(idempotent === true ? [IDEMPOTENCY_KEY] : []),
    ],
    ...(body !== undefined && {
      requestBody: { required: true, content: { 'application/json': { schema: schemaOf(body) } } },
    }),
    responses: { ...answersOf(endpoint), ...problems() },
  };
}

const IDEMPOTENCY_KEY = {
  name: 'Idempotency-Key',
  in: 'header',
  required: true,
  description: 'Names the request: sent again under the same key it counts once.',
  schema: { type: 'string', minLength: 8, maxLength: 200 },
};

function parametersOf(shape: z.ZodObject, place: 'path' | 'query'): readonly object[] {
  const { properties = {}, required = [] } = schemaOf(shape);
  return Object.entries(properties).map(([name, schema]) => ({
    name,
    in: place,
    required: place === 'path' || required.includes(name),
    schema,
  }));
}

function answersOf({ answers }: Endpoint): Readonly<Record<string, object>> {
  return Object.fromEntries(
    Object.entries(answers).map(([status, { description, schema }]) => {
      const content =
        schema === undefined
          ? { 'text/event-stream': { schema: { type: 'string' } } }
          : { 'application/json': { schema: schemaOf(schema, 'output') } };
      return [status, { description, content }];
    }),
  );
}

function problems(): Readonly<Record<string, object>> {
  const schema = { $ref: '#/components/schemas/Problem' };
  const content = { 'application/problem+json': { schema } };
  return Object.fromEntries(
    Object.entries(PROBLEMS).map(([status, description]) => [status, { description, content }]),
  );
}

function schemaOf(shape: z.ZodType, io: 'input' | 'output' = 'input'): Schema {
  const { $schema: _, ...schema } = z.toJSONSchema(shape, { io, unrepresentable: 'any' });
  return schema;
}

const PROBLEM = {
  type: 'object',
  required: ['type', 'title', 'status', 'code'],
  properties: {
    type: { type: 'string' },
    title: { type: 'string' },
    status: { type: 'integer' },
    code: { type: 'string' },
    detail: { type: 'string' },
    hint: { type: 'string' },
    reference: { type: 'string' },
    decided: {
      type: 'object',
      required: ['outcome'],
      properties: {
        outcome: { type: 'string' },
        by: { type: 'string' },
        at: { type: 'integer' },
      },
    },
    errors: {
      type: 'array',
      items: {
        type: 'object',
        properties: { path: { type: 'string' }, message: { type: 'string' } },
      },
    },
  },
};
