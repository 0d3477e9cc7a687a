/** The connection section of a configuration: how the Temporal server is reached. The environment wins over it. */
import type { PayloadCodec } from '@temporalio/common';
import { z } from 'zod';
import { wrongPart } from './field-places.js';
import { parseFields } from './parse-fields.js';

const text = z.string().trim().min(1).max(4_096);

const schema = z.strictObject({
  /** `host:port` */
  address: text.regex(/^(\[[0-9A-Fa-f:]+\]|[^\s:/]+):\d{1,5}$/, 'must be host:port').optional(),
  namespace: text.optional(),
  /** `true`: TLS with the authorities of the machine. Files are PEM; relative paths start at the working directory. */
  tls: z
    .union([
      z.boolean(),
      z.strictObject({
        ca: text.optional(),
        cert: text.optional(),
        key: text.optional(),
        /** Default: the host of the address. */
        serverName: text.optional(),
      }),
    ])
    .optional(),
  /** A file that holds the API key; its value never stands in a configuration. */
  apiKeyFile: text.optional(),
  /** gRPC metadata of every call. */
  metadata: z
    .record(
      z.string().regex(/^[a-z0-9._-]{1,64}$/, 'names are in lower case'),
      z.string().max(4_096),
    )
    .optional(),
  /** What payloads pass on their way to and from the server, in this order when they are sent. */
  codec: z
    .union([z.custom<PayloadCodec>(isCodec), z.array(z.custom<PayloadCodec>(isCodec)).max(10)])
    .optional(),
});

/** How the Temporal server is reached: address, namespace, TLS and keys. */
export type ConnectionDefinition = z.input<typeof schema>;

export interface ConnectionSettings extends Omit<z.output<typeof schema>, 'codec'> {
  /** Empty: payloads go as they are. */
  readonly payloadCodecs: readonly PayloadCodec[];
}

/** Errors: InvalidConfig naming the field. */
export function parseConnection(definition: unknown): ConnectionSettings {
  const result = parseFields(schema, definition ?? {});
  if (result.success) {
    const { codec = [], ...settings } = result.data;
    return { ...settings, payloadCodecs: Array.isArray(codec) ? codec : [codec] };
  }
  throw wrongPart('connection', result.error, 'a codec is an object with encode and decode.');
}

function isCodec(value: unknown): boolean {
  const { encode, decode } = (value ?? {}) as { encode?: unknown; decode?: unknown };
  return typeof encode === 'function' && typeof decode === 'function';
}
