/** The file of a cassette. */
import { z } from 'zod';
import type { Json } from '../../core/json/json.js';
import { HoldfastError } from '../../core/state/errors.js';

export interface RecordedRequest {
  readonly method: string;
  readonly path: string;
  readonly body: Json;
}

export interface Exchange {
  readonly request: RecordedRequest;
  readonly response: {
    readonly status: number;
    readonly headers: { readonly [name: string]: string };
    /** As it came, streams included. */
    readonly body: string;
  };
}

export interface CassetteFile {
  readonly exchanges: readonly Exchange[];
}

const schema = z.strictObject({
  cassette: z.literal(1),
  exchanges: z
    .array(
      z.strictObject({
        request: z.strictObject({ method: z.string(), path: z.string(), body: z.json() }),
        response: z.strictObject({
          status: z.number().int().min(200).max(599),
          headers: z.record(z.string(), z.string()),
          body: z.string(),
        }),
      }),
    )
    .max(1_000),
});

/** Errors: InvalidFixture. */
export function parseCassette(file: string, text: string): CassetteFile {
  const read = schema.safeParse(jsonIn(text));
  if (read.success) return read.data as CassetteFile;
  const issue = read.error.issues[0];
  const at = issue?.path.join('.') ?? '';
  throw new HoldfastError(
    'InvalidFixture',
    `The file ${file} is no cassette: ${at === '' ? '' : `${at}: `}${issue?.message ?? 'no JSON'}.`,
    { hint: 'Record it again: HOLDFAST_CASSETTES=record.' },
  );
}

function jsonIn(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
