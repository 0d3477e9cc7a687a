/**
 * One route, declared once: what it takes, what it answers, who may ask. Parsing, the OpenAPI document and the
 * fuzzer all read the same declaration.
 */
import { z } from 'zod';
import type { Access } from '../identity/access.js';
import type { Person } from '../identity/person.js';
import type { Desk } from '../desk.js';

export type Method = 'get' | 'post';

export interface EndpointRequest<Params, Query, Body> {
  readonly desk: Desk;
  readonly person: Person;
  readonly params: Params;
  readonly query: Query;
  readonly body: Body;
  /** Ends when the other side goes away, or the console. */
  readonly signal: AbortSignal;
  header(name: string): string | undefined;
}

export type Answer =
  | {
      readonly status: 200 | 202;
      readonly body: unknown;
      /** The same as it is written, where that is known. */
      readonly json?: string;
      readonly headers?: Readonly<Record<string, string>>;
    }
  | { readonly stream: EventStream };

export interface StreamEntry {
  readonly id?: string;
  readonly event: string;
  readonly data: unknown;
}
export type EventStream = AsyncIterable<StreamEntry>;

export interface AnswerShape {
  readonly description: string;
  /** Absent: a stream of server-sent events. */
  readonly schema?: z.ZodType;
}

interface Declaration<P extends z.ZodObject, Q extends z.ZodObject, B extends z.ZodType> {
  readonly method: Method;
  /** With `{names}`. */
  readonly path: string;
  /** Names the operation in clients made from the document. */
  readonly name: string;
  readonly summary: string;
  readonly access: Access;
  readonly params?: P;
  readonly query?: Q;
  readonly body?: B;
  /** A key in the header Idempotency-Key makes a repeated request count once. */
  readonly idempotent?: true;
  readonly answers: Readonly<Record<number, AnswerShape>>;
  handle(asked: EndpointRequest<z.output<P>, z.output<Q>, z.output<B>>): Promise<Answer>;
}

export interface Endpoint extends Declaration<z.ZodObject, z.ZodObject, z.ZodType> {
  readonly params: z.ZodObject;
  readonly query: z.ZodObject;
}

const NOTHING = z.strictObject({});

/** The types of a declaration are for its author; whoever calls it parses first. */
export function endpoint<
  P extends z.ZodObject = typeof NOTHING,
  Q extends z.ZodObject = typeof NOTHING,
  B extends z.ZodType = z.ZodUndefined,
>(declared: Declaration<P, Q, B>): Endpoint {
  return { params: NOTHING, query: NOTHING, ...declared } as unknown as Endpoint;
}
