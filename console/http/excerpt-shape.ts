/** The beginning of a text; `blob` names all of it when this is not. */
import { z } from 'zod';

export const excerpt = z.object({
  text: z.string(),
  blob: z.string().optional(),
  bytes: z.number().int().optional(),
});
