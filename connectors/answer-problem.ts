/**
 * An answer to a server's question, before it is sent.
 * Invariant: what is refused here is what the call would ask for again, because one rule reads both.
 */
import type { Json } from '../core/json/json.js';
import type { Elicitation } from '../core/state/elicitation.js';
import { takeAnswer, type PersonRequest } from './exchange.js';

const KEY = 'question';

/** Why the server would not be given this answer; undefined: the answer fits. */
export async function answerProblem(asked: Elicitation, answer: Json): Promise<string | undefined> {
  const request = requestOf(asked);
  const exchange = {
    v: 1,
    era: 'modern',
    requests: [{ key: KEY, request }],
    responses: {},
  } as const;
  const taken = await takeAnswer(exchange, answer);
  return taken.ok ? undefined : taken.problem;
}

function requestOf({ mode, message, schema = {}, url = '' }: Elicitation): PersonRequest {
  return mode === 'url' ? { mode, message, url } : { mode, message, schema };
}
