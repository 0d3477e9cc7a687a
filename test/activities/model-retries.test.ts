/** Which failures of a model are tried again, how often, and what is told of it (C27). */
import type { CallModelInput } from '../../core/state/effect.js';
import type { ScriptedAnswer } from '../../providers/scripted/script.js';
import {
  attempt,
  effect,
  failureFrom,
  modelInput,
  openedHead,
  startBed,
  type Bed,
} from './setup.js';

const OK: ScriptedAnswer = { text: 'Done.', usage: { input: 100, output: 10 } };
/** One retry of a server error, two of anything else. */
const RETRIES: CallModelInput['maxRetries'] = { serverError: 1, other: 2 };

describe('a model that fails', () => {
  let bed: Bed;
  afterEach(() => bed.end());

  /** Attempts until the failure is final, as Temporal would make them. */
  async function exhaust(reply: ScriptedAnswer) {
    bed = await startBed({ replies: [reply] });
    const input = modelInput(await openedHead(bed), { maxRetries: RETRIES });
    const info = effect();
    for (let attempts = 1; ; attempts += 1) {
      const failed = await failureFrom(attempt(bed.activities().call_model, input, info));
      if (failed.nonRetryable || attempts > 10) return { attempts, failed };
    }
  }

  test.each<[string, ScriptedAnswer, string, number]>([
    ['429', { status: 429 }, 'RateLimited', 3],
    ['529', { status: 529, errorType: 'overloaded_error' }, 'Overloaded', 3],
    ['408', { status: 408 }, 'NetworkTimeout', 3],
    ['a connection that breaks', { text: 'x', cutAfterChunks: 1 }, 'NetworkTimeout', 3],
    ['garbage', { garbage: '<html>', contentType: 'text/html' }, 'MalformedReply', 3],
    ['500', { status: 500 }, 'ServerError', 2],
    ['502', { status: 502 }, 'ServerError', 2],
    ['503', { status: 503 }, 'ServerError', 2],
    ['400', { status: 400 }, 'InvalidRequest', 1],
    ['401', { status: 401 }, 'AuthError', 1],
    ['402', { status: 402 }, 'AuthError', 1],
    ['403', { status: 403 }, 'AuthError', 1],
    ['404', { status: 404 }, 'InvalidRequest', 1],
    ['413', { status: 413 }, 'PromptTooLong', 1],
  ])('%s: %s', async (_what, reply, type, attempts) => {
    const ended = await exhaust(reply);
    expect(ended.failed.type).toBe(type);
    expect(ended.attempts).toBe(attempts);
    expect(bed.model.requests()).toHaveLength(attempts);
  });

  test('says how each of its attempts came about', async () => {
    const { failed } = await exhaust([{ status: 500 }, { status: 429 }, { status: 503 }]);
    expect(failed.details?.[0]).toMatchObject({
      attempts: 3,
      retried: [
        { attempt: 2, class: 'ServerError' },
        { attempt: 3, class: 'RateLimited' },
      ],
    });
  });

  test('and answers after all: one reply, with its retries', async () => {
    bed = await startBed({ replies: [[{ status: 429 }, { status: 429 }, OK]] });
    const input = modelInput(await openedHead(bed));
    const info = effect();
    await failureFrom(attempt(bed.activities().call_model, input, info));
    await failureFrom(attempt(bed.activities().call_model, input, info));
    const output = await attempt(bed.activities().call_model, input, info);
    expect(output).toMatchObject({
      attempts: 3,
      retried: [
        { attempt: 2, class: 'RateLimited' },
        { attempt: 3, class: 'RateLimited' },
      ],
    });
  });

  test('a first attempt that answers has no retries to tell of', async () => {
    bed = await startBed({ replies: [OK] });
    const output = await attempt(bed.activities().call_model, modelInput(await openedHead(bed)));
    expect(output).not.toHaveProperty('retried');
  });
});
