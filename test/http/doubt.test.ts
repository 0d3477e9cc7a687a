/** A change of a message whose answers may have done something, as far as they can be looked through. */
import { checkAsked, checkDoubt } from '../../http/doubt.js';
import type { Chat } from '../../http/chat.js';
import type { TranscriptMessage } from '../../client/index.js';

const AT = { runId: 'r0', span: 'first' } as const;
const started = { type: 'tool_started', callId: 'c1', tool: 'pay' };

/** Runs that say so many events of no account, and then these. */
function chatOf(count: number, last: readonly object[] = []): Chat {
  async function* events() {
    for (let number = 0; number < count; number += 1) yield { type: 'warning' };
    yield* last;
  }
  return { client: { handle: () => ({ events }) } } as unknown as Chat;
}

const behind = (runs: number) =>
  Array.from({ length: runs }, (_, number): TranscriptMessage => {
    return { messageId: `r${number + 1}:m0` } as TranscriptMessage;
  });

test('A change is let through when every call before it has an outcome.', async () => {
  const ended = { ...started, type: 'tool_finished', code: 'ok' };
  await expect(checkDoubt(chatOf(10, [started, ended]), AT, behind(3))).resolves.toBeUndefined();
});

test('A change is refused when a call before it may have taken effect, however much stands before the call.', async () => {
  const detail = (words: string) => ({
    status: 409,
    facts: { detail: expect.stringContaining(words) },
  });
  await expect(checkDoubt(chatOf(10, [started]), AT, [])).rejects.toMatchObject(detail('of pay'));
  await expect(checkDoubt(chatOf(20_000, [started]), AT, [])).rejects.toMatchObject(
    detail('too long'),
  );
  await expect(checkDoubt(chatOf(1), AT, behind(50))).rejects.toMatchObject(detail('too long'));
});

test('A run that asks what became of a call is not stopped by a change; one whose question has an answer is.', async () => {
  const asks = { type: 'approval_requested', kind: 'outcome', askId: 'r0:1', tool: 'pay' };
  const answered = { type: 'approval_resolved', askId: 'r0:1' };
  await expect(checkAsked(chatOf(2, [started, asks]), ['r0'])).rejects.toMatchObject({
    status: 409,
  });
  await expect(checkAsked(chatOf(2, [asks, answered]), ['r0'])).resolves.toBeUndefined();
  const approval = { ...asks, kind: 'approval' };
  await expect(checkAsked(chatOf(2, [approval]), ['r0'])).resolves.toBeUndefined();
});
