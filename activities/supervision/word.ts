/** The word of a supervisor, from a model's text. */
import { z } from 'zod';
import { SUPERVISION_LIMITS, type SupervisorWord } from '../../core/state/supervision.js';
import { isWellFormed } from '../../core/json/shape.js';
import { beginning } from '../run/append-items.js';
import { parsed, type Output } from '../structured-answer.js';

const { textChars, becauseChars } = SUPERVISION_LIMITS;

/** The beginning, without half a character at its end. */
const cut = (chars: number) =>
  z
    .string()
    .trim()
    .min(1)
    .refine(isWellFormed, 'half of a surrogate pair')
    .transform((text) => beginning(text, chars));

const because = cut(becauseChars);
const text = cut(textChars);

const word = z.discriminatedUnion('decision', [
  z.object({ decision: z.literal('go_on'), because }),
  z.object({ decision: z.literal('interrupt'), because }),
  z.object({ decision: z.literal('steer'), because, text }),
  z.object({ decision: z.literal('ask'), because, text }),
]);

export function wordIn(answer: string): Output<SupervisorWord> {
  return parsed(word, answer);
}
