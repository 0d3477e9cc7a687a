/** What a provider does when the vendor, the network or the caller ends a request early. */
import assert from 'node:assert/strict';
import type { ModelReply } from '../../providers/provider.js';
import type { ScriptedFailure, ScriptedMessage } from '../../providers/scripted/script.js';
import { failureOf, withSession, type ProviderCheck, type ProviderUnderTest } from './subject.js';

const MESSAGE_ARGS = { to: '世界', cents: 5 };
const MESSAGE: ScriptedMessage = {
  thinking: 'Ünïcödé 思考',
  text: 'Grüße 👋',
  calls: [{ tool: 'pay', input: MESSAGE_ARGS }],
  usage: { input: 40 },
  chunks: 2,
};
/** Cuts in the bytes of a stream; every event's end is tried as well. */
const BYTE_STEP = 37;
const QUICK = { stallMs: 300, quietMs: 600 };

interface Expected {
  readonly code: string;
  readonly retry: boolean;
  readonly billed: boolean;
}

const STATUSES: readonly (readonly [ScriptedFailure, Expected])[] = [
  [{ status: 400 }, { code: 'InvalidRequest', retry: false, billed: false }],
  [
    { status: 400, message: 'This exceeds the maximum context length of the model' },
    { code: 'PromptTooLong', retry: false, billed: false },
  ],
  [
    { status: 400, message: 'blocked by the content filtering policy' },
    { code: 'ContentRefused', retry: false, billed: false },
  ],
  [{ status: 401 }, { code: 'AuthError', retry: false, billed: false }],
  [{ status: 403 }, { code: 'AuthError', retry: false, billed: false }],
  [{ status: 404 }, { code: 'InvalidRequest', retry: false, billed: false }],
  [
    { status: 408, errorType: 'gateway' },
    { code: 'NetworkTimeout', retry: true, billed: true },
  ],
  [{ status: 413 }, { code: 'PromptTooLong', retry: false, billed: false }],
  [
    { status: 413, message: 'image exceeds 5 MB' },
    { code: 'InvalidRequest', retry: false, billed: false },
  ],
  [{ status: 429 }, { code: 'RateLimited', retry: true, billed: false }],
  [
    { status: 429, shouldRetry: false },
    { code: 'RateLimited', retry: false, billed: false },
  ],
  [{ status: 500 }, { code: 'ServerError', retry: true, billed: false }],
  [
    { status: 502, errorType: 'bad_gateway' },
    { code: 'ServerError', retry: true, billed: true },
  ],
  [{ status: 529 }, { code: 'Overloaded', retry: true, billed: false }],
  // A gateway's words, for what costs nothing whoever says it.
  ...[429, 529].map((status): readonly [ScriptedFailure, Expected] => [
    { status, errorType: 'gateway' },
    { code: status === 429 ? 'RateLimited' : 'Overloaded', retry: true, billed: false },
  ]),
];

export function failureChecks(subject: ProviderUnderTest): readonly ProviderCheck[] {
  return [
    ...STATUSES.map(([failure, expected]) => statusCheck(subject, failure, expected)),
    ...waitChecks(subject),
    ...streamChecks(subject),
    ...interruptChecks(subject),
  ];
}

function statusCheck(
  subject: ProviderUnderTest,
  failure: ScriptedFailure,
  expected: Expected,
): ProviderCheck {
  return {
    name: `the answer ${JSON.stringify(failure)} is ${expected.code}, at one attempt`,
    run: () =>
      withSession(subject, { replies: [failure] }, async ({ ask, model }) => {
        const { code, details } = await failureOf(ask());
        const found = { code, retry: details.shouldRetry, billed: details.receivedInput };
        assert.deepEqual(found, expected);
        assert.equal(details.status, failure.status);
        assert.equal(model.requests().length, 1);
      }),
  };
}

function waitChecks(subject: ProviderUnderTest): readonly ProviderCheck[] {
  const waits: readonly (readonly [Record<string, string>, number | undefined])[] = [
    [{ 'retry-after': '7' }, 7000],
    [{ 'retry-after-ms': '1234', 'retry-after': '7' }, 1234],
    [{ 'retry-after': 'soon' }, undefined],
    [{ 'retry-after': '99999999999' }, 7 * 24 * 3600 * 1000],
  ];
  return waits.map(([headers, expected]) => ({
    name: `the headers ${JSON.stringify(headers)} say how long to wait`,
    run: () =>
      withSession(subject, { replies: [{ status: 429, headers }] }, async ({ ask }) => {
        assert.equal((await failureOf(ask())).details.retryAfterMs, expected);
      }),
  }));
}

function streamChecks(subject: ProviderUnderTest): readonly ProviderCheck[] {
  return [
    {
      name: 'a stream that is cut after any event brings no reply',
      run: () => cutEverywhere(subject, (at) => ({ ...MESSAGE, cutAfterChunks: at }), 1),
    },
    {
      name: 'a stream that ends well, but before its message does, brings no reply',
      run: () => cutEverywhere(subject, (at) => ({ ...MESSAGE, endAfterChunks: at }), 1),
    },
    {
      name: 'a stream that is cut within its bytes brings no reply',
      run: () => cutEverywhere(subject, (at) => ({ ...MESSAGE, cutAfterBytes: at }), BYTE_STEP),
    },
    ...(['silence', 'pings'] as const).map((stallWith) => ({
      name: `a stream that stalls with ${stallWith} is given up`,
      run: () => {
        const stalling = { text: 'x', stallAfterChunks: 2, stallWith };
        return withSession(subject, { replies: [stalling], limits: QUICK }, async ({ ask }) => {
          const { code, details } = await failureOf(ask());
          assert.equal(code, 'NetworkTimeout');
          assert(details.shouldRetry && details.receivedInput);
        });
      },
    })),
    {
      name: 'an error in the middle of a stream is that error, and the input is billed',
      run: () => {
        const replies = [{ text: 'x', errorEventAfterChunks: 2 }];
        return withSession(subject, { replies }, async ({ ask }) => {
          const { code, details } = await failureOf(ask());
          assert.equal(code, 'Overloaded');
          assert(details.shouldRetry && details.receivedInput);
        });
      },
    },
    ...['<html>busy</html>', 'data: []\n\ndata: {}\n\n'].map((garbage) => ({
      name: `${JSON.stringify(garbage)} is no reply`,
      run: () => {
        const contentType = garbage.startsWith('<') ? 'text/html' : 'text/event-stream';
        return withSession(subject, { replies: [{ garbage, contentType }] }, async ({ ask }) => {
          assert.equal((await failureOf(ask())).code, 'MalformedReply');
        });
      },
    })),
  ];
}

/** Later and later cuts, until one comes after the end; there must be some before. */
async function cutEverywhere(
  subject: ProviderUnderTest,
  cutAt: (at: number) => ScriptedMessage,
  step: number,
): Promise<void> {
  const cuts = Array.from({ length: 400 }, (_, index) => cutAt(index * step));
  await withSession(subject, { replies: [cuts] }, async ({ ask }) => {
    let cut = 0;
    for (; cut < cuts.length; cut += 1) {
      const outcome = await ask().catch((error: unknown) => error);
      if (!(outcome instanceof Error)) {
        const { partial, blocks } = outcome as ModelReply;
        const call = blocks.find((block) => block.type === 'tool_use');
        assert.notEqual(partial, true);
        assert.deepEqual(call?.args, MESSAGE_ARGS);
        break;
      }
      const { code, details } = await failureOf(Promise.reject(outcome));
      assert.equal(code, 'NetworkTimeout', `cut ${cut}`);
      assert(details.shouldRetry && details.receivedInput, `cut ${cut}`);
    }
    assert(cut >= 8, `at least 8 cuts, not ${cut}`);
    assert(cut < cuts.length, 'a cut after the end leaves a reply');
  });
}

function interruptChecks(subject: ProviderUnderTest): readonly ProviderCheck[] {
  return [
    {
      name: 'an interrupted reply is what had arrived, without the call in the making',
      run: () => {
        const calls = [{ tool: 'cut', rawInput: '{"b": "' + 'x'.repeat(100) + '"}' }];
        const slow = { text: 'So far', calls, chunks: 50, chunkDelayMs: 40 };
        return withSession(subject, { replies: [slow] }, async ({ ask, chunks }) => {
          const abort = new AbortController();
          const asked = ask({}, abort.signal);
          while (chunks() < 14) await new Promise((resolve) => setTimeout(resolve, 5));
          abort.abort();
          const reply = await asked;
          assert.equal(reply.partial, true);
          assert.equal(reply.stop, 'unknown');
          assert.deepEqual(reply.blocks, [{ type: 'text', text: 'So far' }]);
          assert.equal(reply.incompleteCalls, 1);
          assert.notEqual(reply.usageSource, 'reported');
        });
      },
    },
    {
      name: 'a request that was given up before it left did not leave',
      run: () =>
        withSession(subject, { replies: [{ text: 'x' }] }, async ({ ask, model }) => {
          const reply = await ask({}, AbortSignal.abort());
          assert.equal(reply.usageSource, 'unsent');
          assert.equal(reply.partial, true);
          assert.equal(model.requests().length, 0);
        }),
    },
  ];
}
