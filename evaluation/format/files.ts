/** Files of a case: what kind, how large; what is in them is made where the case is played. */
import { z } from 'zod';
import { positive, text } from './values.js';

const FILE_KINDS = ['png', 'jpeg', 'pdf', 'wav'] as const;

const file = z.strictObject({
  kind: z.enum(FILE_KINDS),
  name: text.optional(),
  /** Pixels of a picture. */
  width: positive.optional(),
  height: positive.optional(),
  /** Of a PDF. */
  pages: positive.optional(),
  /** Of a sound. */
  seconds: positive.optional(),
});

export const files = z.array(file).min(1);

export type WrittenFile = z.infer<typeof file>;
