/** What tools of the server take. */
import { z } from 'zod';
import { microUsdOf } from '../../authoring/budget-in-usd.js';

export const id = z.string().min(1).max(400);
export const text = (max: number) => z.string().min(1).max(max);
export const limit = z.number().int().min(1).max(50).default(20).describe('entries of a page');
export const cursor = z
  .string()
  .min(1)
  .max(1_000)
  .optional()
  .describe('`next` of the page before; without it the first page');
export const requestId = z
  .string()
  .regex(/^[\x21-\x7e]{8,200}$/)
  .optional()
  .describe(
    'names this request by 8 to 200 visible characters: sent again with the same id it counts once',
  );
export const maxCostUsd = z
  .number()
  .min(0)
  .max(1_000_000)
  .optional()
  .describe('most that it may cost in USD; only lowers what the configuration allows');

export function cost(usd: number | undefined): { readonly maxCostMicroUsd?: number } {
  const amount = microUsdOf(usd);
  return amount === undefined ? {} : { maxCostMicroUsd: amount };
}
