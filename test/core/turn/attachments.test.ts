/** Pictures, documents and sounds, by reference: what a run says of them, and what it reserves. */
import type { Attachment } from '../../../core/state/attachment.js';
import { mediaTokens } from '../../../core/step/media.js';
import { call, calls, says, usage, withReply, type Script } from '../script.js';
import {
  createShell,
  finish,
  ofType,
  requestsOf,
  send,
  settle,
  until,
  warningsOf,
} from '../shell.js';

const picture = (n: number): Attachment => ({
  $blob: String(n).padStart(64, '0'),
  bytes: 4_000,
  mediaType: 'image/png',
  name: `${n}.png`,
});
const REPORT: Attachment = {
  $blob: 'f'.repeat(64),
  bytes: 8_000,
  mediaType: 'application/pdf',
  pages: 3,
};
const TAKES = { image: 1_600, documentPage: 4_000 };
/** For a name, or for words in place of a file. */
const WORDS = 600;
const TALK: Partial<Script> = { settings: { afterAnswer: 'await_user' } };

const boundsOf = (shell: ReturnType<typeof createShell>): readonly number[] =>
  requestsOf(shell).map(({ bound }) => bound.inputTokens);

describe('what is attached to a task', () => {
  test('stands as references in the first message, in session_init and in no other place', () => {
    const attachments = [picture(1), REPORT];
    const shell = createShell({ takes: TAKES, task: { attachments }, model: [says('A cat.')] });
    expect(finish(shell).stopReason).toBe('completed');
    expect(ofType(shell, 'session_init')[0]?.attachments).toEqual(attachments);
    expect(requestsOf(shell)[0]?.append[0]).toMatchObject({ kind: 'user', attachments });
  });

  test('counts in the bound of a request as the route of the model says, until the vendor has counted', () => {
    const script = { ...TALK, takes: TAKES, model: [says('A.', usage(9_000, 10)), says('B.')] };
    const plain = createShell(script);
    const attached = createShell({ ...script, task: { attachments: [picture(1), REPORT] } });
    for (const shell of [plain, attached]) {
      settle(shell);
      send(shell, { type: 'user_message', text: 'And?' });
      settle(shell);
    }
    const [first = 0, second = 0] = boundsOf(attached);
    const [plainFirst = 0, plainSecond = 0] = boundsOf(plain);
    expect(first - plainFirst).toBe(1_600 + 3 * 4_000 + 2 * WORDS);
    expect(second).toBe(plainSecond);
  });

  test('counts with its text where a document has more than its pages have as a rule', () => {
    const boundWith = (one: Attachment, takes: typeof TAKES | { image: number } = TAKES) => {
      const shell = createShell({ takes, task: { attachments: [one] }, model: [says('A.')] });
      finish(shell);
      return boundsOf(shell)[0] ?? 0;
    };
    const dense = { ...REPORT, textBytes: 500_000 };
    expect(boundWith(dense) - boundWith(REPORT)).toBe(500_000 - 3 * 8_000);
    const unread = { image: 1_600 };
    expect(boundWith(dense, unread)).toBe(boundWith(REPORT, unread));
  });

  test('counts anew for a model that has counted nothing of it', () => {
    const shell = createShell({
      ...TALK,
      takes: TAKES,
      task: { attachments: [picture(1)] },
      routes: { 'scripted/blind': {}, 'scripted/sharp': { takes: { image: 50_000 } } },
      model: [says('A.'), says('B.'), says('C.')],
    });
    settle(shell);
    for (const model of ['scripted/blind', 'scripted/sharp']) {
      send(shell, { type: 'set_model', model }, { type: 'user_message', text: 'And?' });
      settle(shell);
    }
    const [, blind = 0, sharp = 0] = boundsOf(shell);
    expect(sharp - blind).toBeGreaterThan(50_000 - WORDS);
    expect(sharp - blind).toBeLessThan(50_000 + 5 * WORDS);
  });

  test('ends a run whose money a picture might use up before the request leaves', () => {
    const shell = createShell({
      takes: { image: 50_000 },
      task: { attachments: [picture(1)] },
      budget: { maxCostMicroUsd: 150_000 },
      model: [says('A.')],
    });
    expect(finish(shell).stopReason).toBe('max_cost');
    expect(requestsOf(shell)).toEqual([]);
  });
});

describe('what is attached to a message', () => {
  test('goes with its message, and is in its event', () => {
    const shell = createShell({ ...TALK, takes: TAKES, model: [says('A.'), says('B.')] });
    settle(shell);
    send(shell, { type: 'user_message', text: 'See.', attachments: [picture(2)] });
    settle(shell);
    expect(ofType(shell, 'user_message')[0]).toMatchObject({ attachments: [picture(2)] });
    expect(requestsOf(shell)[1]?.append.at(-1)).toMatchObject({ attachments: [picture(2)] });
    expect(warningsOf(shell)).toEqual([]);
  });

  test('is a warning where the model does not read it', () => {
    const shell = createShell({ ...TALK, model: [says('A.'), says('B.')] });
    settle(shell);
    send(shell, { type: 'user_message', text: 'See.', attachments: [picture(2)] });
    settle(shell);
    expect(warningsOf(shell)).toEqual(['attachments_not_read']);
  });

  test('waits with it, bounded as all that waits', () => {
    const many = Array.from({ length: 20 }, (_, n) => picture(n));
    const shell = createShell({ ...TALK, takes: TAKES, model: [says('A.')] });
    until(shell, 'session_init');
    const message = { type: 'user_message', text: 'x', attachments: many } as const;
    send(shell, ...Array.from({ length: 30 }, () => message));
    settle(shell);
    expect(warningsOf(shell)).toContain('message_dropped');
  });
});

test('a summary may give files room that had none, and the bound after it has them', () => {
  const boundWith = (pictures: number) => {
    const attachments = Array.from({ length: pictures }, (_, n) => picture(n));
    const read = withReply(calls(call('a', 'read_order')), usage(169_900, 100));
    const shell = createShell({
      takes: TAKES,
      promptBytes: 200_000,
      task: { attachments },
      model: [read, says('ok')],
    });
    expect(finish(shell).stopReason).toBe('completed');
    expect(ofType(shell, 'compact_boundary')).toHaveLength(1);
    return boundsOf(shell)[1] ?? 0;
  };
  const withRoom = boundWith(5);
  expect(boundWith(25) - withRoom).toBe(25 * WORDS + 20 * 1_600);
});

test('a request is bounded by the files that it may have, however many the conversation has', () => {
  const count = { images: 300, documents: 2, pages: 700, sounds: 0, seconds: 0 };
  const takes = { image: 1_000, documentPage: 10, documentPages: 100 };
  expect(mediaTokens(count, { takes })).toBe(302 * WORDS + 20 * 1_000 + 100 * 10);
});

describe('what a tool returns beside its value', () => {
  const returns = (count: number) => ({
    stored: { text: '{}' },
    attachments: Array.from({ length: count }, (_, n) => picture(n)),
  });

  test('goes to the model with its result, and is in its event', () => {
    const shell = createShell({
      takes: TAKES,
      model: [calls(call('a', 'read_order')), says('42')],
      outcomes: { read_order: [returns(2)] },
    });
    expect(finish(shell).stopReason).toBe('completed');
    const attachments = [picture(0), picture(1)];
    expect(ofType(shell, 'tool_finished')[0]).toMatchObject({ attachments });
    const [item] = requestsOf(shell)[1]?.append ?? [];
    expect(item).toMatchObject({ kind: 'results', results: [{ callId: 'a', attachments }] });
    const [first = 0, second = 0] = boundsOf(shell);
    expect(second - first).toBeGreaterThan(2 * 1_600);
  });

  test('is less of each where many calls share one message', () => {
    const ids = Array.from({ length: 10 }, (_, n) => `c${n}`);
    const shell = createShell({
      takes: TAKES,
      model: [calls(...ids.map((id) => call(id, 'read_order', { orderId: id }))), says('42')],
      outcomes: { read_order: [returns(8)] },
    });
    expect(finish(shell).stopReason).toBe('completed');
    const told = ofType(shell, 'tool_finished').map(({ attachments = [] }) => attachments.length);
    expect(told).toEqual(ids.map(() => 2));
    const [item] = requestsOf(shell)[1]?.append ?? [];
    const note = '[6 more files of this result have no room in this message.]';
    expect(item).toMatchObject({ results: ids.map(() => ({ note })) });
  });
});
