/** The stream of one message, within its limits. */
import { Problem } from '../console/http/problem.js';
import { HoldfastError } from '../core/state/errors.js';
import type { Chat } from './chat.js';
import type { Speaking } from './deliveries.js';
import type { CheckedOptions } from './options.js';
import type { UiChunk, UiProfile } from './projection/index.js';
import { LEFT, streamResponse } from './sse.js';
import type { Submitting } from './submit.js';
import { tellMessage, type Telling } from './told.js';

interface Opening {
  readonly chat: Chat;
  readonly at: Speaking;
  /** For a message that its run did not hear any more; undefined: the chat has it no more. */
  readonly again?: (unheard: Speaking) => Promise<Speaking | undefined>;
  readonly free: () => void;
  readonly about: Pick<Telling, 'seen' | 'decided' | 'refused'>;
}

/** How long a reader may take to read the end of a stream that has reached its limit, in ms. */
const CUT_MS = 30_000;
const TIMER_MAX_MS = 2_147_483_647;

export function stream(
  { options }: Pick<Submitting, 'options'>,
  request: Request,
  opening: Opening,
): Response {
  const { chat, at, again, free, about } = opening;
  const { limits, reasoning = true, say } = options;
  const limit = new AbortController();
  const left = new AbortController();
  const cut = new AbortController();
  const late = setTimeout(() => limit.abort(), limits.streamMs);
  const tooLate = setTimeout(() => cut.abort(), Math.min(limits.streamMs + CUT_MS, TIMER_MAX_MS));
  // Whoever serves a request that was left may drop the answer as it is.
  const gone = (): void => cut.abort(LEFT);
  request.signal.addEventListener('abort', gone, { once: true });
  if (request.signal.aborted) gone();
  const telling: Telling = {
    ...about,
    ...at,
    chat,
    options: { profile: profileOf(options, request), reasoning },
    limit: limit.signal,
    left: left.signal,
  };
  let chars = 0;
  return streamResponse({
    chunks: chunksOf(telling, at, again),
    cut: cut.signal,
    count(more) {
      chars += more;
      if (chars > limits.streamChars) limit.abort();
    },
    release() {
      clearTimeout(late);
      clearTimeout(tooLate);
      request.signal.removeEventListener('abort', gone);
      left.abort();
      free();
    },
    failed(error) {
      // A client may name any run of its chat.
      if (error instanceof HoldfastError && error.code === 'RunNotFound') return;
      say(`A stream broke off: ${error instanceof Error ? error.message : 'no error'}`);
    },
  });
}

/** Runs that end one after the other before they hear a message. */
const AGAIN_MAX = 3;

async function* chunksOf(
  telling: Telling,
  begun: Speaking,
  again: Opening['again'],
): AsyncGenerator<UiChunk, void, undefined> {
  let at = begun;
  for (let tries = 0; tries <= AGAIN_MAX; tries += 1) {
    const ending = yield* tellMessage({ ...telling, ...at });
    if (ending === 'told' || again === undefined || telling.left.aborted) return;
    // The run ended before it heard the message: another one answers it.
    const next = await again(at);
    if (next === undefined) {
      const errorText = 'The conversation was changed before the message. Load it again.';
      yield { type: 'error', errorText };
      return;
    }
    at = next;
  }
  throw new Error('the runs of a chat ended one after the other before they heard a message');
}

/** Errors: a Problem for a profile that is none. */
export function profileOf({ profile = 'v6' }: CheckedOptions, request: Request): UiProfile {
  const asked = request.headers.get('holdfast-ui-profile');
  if (asked === null) return profile;
  if (asked === 'v6' || asked === 'v7') return asked;
  const errors = [{ path: 'holdfast-ui-profile', message: 'The header is v6 or v7, or left out.' }];
  throw new Problem(400, { code: 'invalid', detail: 'The profile is not known.', errors });
}
