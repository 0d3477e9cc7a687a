/** Words that many keys of the format share, and how a value's own keys choose its schema. */
import { z } from 'zod';

export const text = z.string().min(1);
export const texts = z.array(text);
export const someTexts = texts.min(1);
export const natural = z.int().min(0);
export const positive = z.int().min(1);
export const limit = z.union([natural, z.literal('unlimited')]);
export const share = z.number().min(0).max(1);
const amount = z.number().min(0);

export const price = z.strictObject({
  input: amount,
  output: amount,
  cacheRead: amount.optional(),
  cacheWrite: amount.optional(),
});

export const usage = withSomeKey(
  z.strictObject({
    input: natural.optional(),
    output: natural.optional(),
    cacheRead: natural.optional(),
    cacheWrite: natural.optional(),
  }),
);

export const cadence = withSomeKey(
  z.strictObject({ turns: positive.optional(), minutes: z.number().gt(0).optional() }),
);

/** A condition on arguments: a path, and at least one thing that must hold of what lies there. */
export const when = withSomeKey(
  z.strictObject({
    path: text,
    equals: z.unknown().optional(),
    lte: z.number().optional(),
    gte: z.number().optional(),
    exists: z.boolean().optional(),
  }),
  2,
);

/** A number, or what it lies between. */
const bounds = withSomeKey(
  z.strictObject({ lte: z.number().optional(), gte: z.number().optional() }),
);

export type Count = number | z.infer<typeof bounds>;

export const count = chosen<Count>((value) =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? bounds : z.number(),
);

export const duration = z
  .string()
  .regex(/^[0-9]+(ms|s|m|h|d)$/, 'must be a whole number and ms, s, m, h or d, such as "1h"');

/** Messages as letters: U user, A assistant, R tool results. */
export const letters = z
  .string()
  .regex(/^[UAR]( [UAR])*$/, 'must be letters U, A, R with one space between, such as "U A R A"');

export const jsonObject = z.record(z.string(), z.unknown());

/** An object that says something. */
export function withSomeKey<S extends z.ZodType>(schema: S, least = 1) {
  return schema.refine(
    (value) => Object.keys(value as object).length >= least,
    least === 1 ? 'must not be empty' : `must have at least ${least} keys`,
  );
}

/**
 * Exactly one schema judges a value, chosen by looking at it, so that an error names the key that is wrong
 * and not every shape that the value could have had.
 */
export function chosen<T>(choose: (value: unknown) => z.ZodType<T>): z.ZodType<T> {
  return z.unknown().transform((value, context): T => {
    const outcome = choose(value).safeParse(value);
    if (outcome.success) return outcome.data;
    for (const issue of outcome.error.issues) {
      context.issues.push({ ...issue, input: value } as z.core.$ZodRawIssue);
    }
    return z.NEVER;
  });
}

export function hasKey(value: unknown, key: string): boolean {
  return typeof value === 'object' && value !== null && Object.hasOwn(value, key);
}
