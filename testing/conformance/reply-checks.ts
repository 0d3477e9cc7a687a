/** What a reply must be. */
import assert from 'node:assert/strict';
import type { ScriptedMessage } from '../../providers/scripted/script.js';
import type { ModelReply } from '../../providers/provider.js';
import { withSession, type ProviderCheck, type ProviderUnderTest } from './subject.js';

const USAGE = { input: 11, output: 7, cacheRead: 5, cacheWrite: 3 };

export function replyChecks(subject: ProviderUnderTest): readonly ProviderCheck[] {
  const check = (
    name: string,
    message: ScriptedMessage,
    holds: (reply: ModelReply) => void,
  ): ProviderCheck => ({
    name,
    run: () => withSession(subject, { replies: [message] }, async ({ ask }) => holds(await ask())),
  });
  return [
    check('a text comes whole, with usage and model', textWithUsage, (reply) => {
      assert.deepEqual(reply.blocks, [{ type: 'text', text: textWithUsage.text }]);
      assert.equal(reply.stop, 'end_turn');
      assert.deepEqual(reply.usage, USAGE);
      assert.equal(reply.usageSource, 'reported');
      assert.equal(reply.model, 'scripted-model');
      assert.equal(reply.incompleteCalls, 0);
      assert.notEqual(reply.partial, true);
    }),
    check('parallel calls come in order, by their wire names', parallelCalls, (reply) => {
      assert.equal(reply.stop, 'tool_use');
      const ids = callIds(reply);
      assert.equal(new Set(ids).size, 3);
      assert.deepEqual(reply.blocks, [
        { type: 'text', text: 'Looking.' },
        { type: 'tool_use', id: ids[0], tool: 'orders__read', args: { id: 'o1' } },
        { type: 'tool_use', id: ids[1], tool: 'orders__read', args: { id: 'o2' } },
        { type: 'tool_use', id: ids[2], tool: 'now', args: {} },
      ]);
    }),
    check('ids of calls are unique even if the model repeats or omits them', sameIds, (reply) => {
      const ids = callIds(reply);
      assert.equal(ids.length, 3);
      assert.equal(new Set(ids).size, 3);
      for (const id of ids) assert.match(id, /^[a-zA-Z0-9_-]{1,128}$/);
    }),
    ...['{"a": 1', '[1]', '{"a": 1e999}'].map((rawInput) =>
      check(
        `arguments ${rawInput} are marked as unreadable, never guessed`,
        { calls: [{ tool: 't', rawInput }] },
        ({ blocks: [block] }) => {
          assert(block?.type === 'tool_use');
          assert.deepEqual(block.args, { $unparsed: rawInput });
        },
      ),
    ),
    ...stopChecks(check),
    usageCheck(check),
    {
      name: 'the same request gets the same reply, and progress is reported for chunks',
      run: () =>
        withSession(subject, { replies: [slowly] }, async ({ ask, chunks }) => {
          assert.deepEqual(await ask(), await ask());
          assert(chunks() > 5, `more than 5 chunks, not ${chunks()}`);
        }),
    },
  ];
}

const textWithUsage = { text: 'Grüße, 世界 👋', usage: USAGE, chunks: 4 };
const parallelCalls: ScriptedMessage = {
  text: 'Looking.',
  calls: [
    { tool: 'orders.read', input: { id: 'o1' } },
    { tool: 'orders.read', input: { id: 'o2' } },
    { tool: 'now', input: {} },
  ],
  chunks: 3,
};
const sameIds: ScriptedMessage = {
  calls: ['dup', 'dup', ''].map((id) => ({ id, tool: 't', input: {} })),
};
const slowly: ScriptedMessage = {
  thinking: 'Hm.',
  text: 'a'.repeat(50),
  chunks: 10,
  chunkDelayMs: 2,
};

type Check = (
  name: string,
  message: ScriptedMessage,
  holds: (reply: ModelReply) => void,
) => ProviderCheck;

function usageCheck(check: Check): ProviderCheck {
  const usage = { input: 0, output: 1, cacheRead: 900, cacheWrite: 800 };
  return check(
    'usage is whole numbers from 0, however much is cached',
    { text: 'x', usage },
    (reply) => {
      const { input, output, cacheRead, cacheWrite } = reply.usage;
      for (const count of [input, output, cacheRead, cacheWrite]) {
        assert(Number.isSafeInteger(count) && count >= 0, `no count of tokens: ${count}`);
      }
    },
  );
}

function stopChecks(check: Check): readonly ProviderCheck[] {
  const cutCall: ScriptedMessage = {
    text: 'So',
    calls: [{ tool: 'pay', rawInput: '{"cents": 5' }],
    stopReason: 'max_tokens',
  };
  const wholeCall: ScriptedMessage = { ...cutCall, calls: [{ tool: 'pay', input: { cents: 5 } }] };
  const refused: ScriptedMessage = {
    text: 'Not this.',
    calls: [{ tool: 'pay', input: {} }],
    stopReason: 'refusal',
  };
  return [
    check('a call that max_tokens cut off is dropped and counted', cutCall, (reply) => {
      assert.equal(reply.stop, 'max_tokens');
      assert.deepEqual(reply.blocks, [{ type: 'text', text: 'So' }]);
      assert.equal(reply.incompleteCalls, 1);
    }),
    check('a call that is whole at max_tokens is kept', wholeCall, (reply) => {
      assert.equal(callIds(reply).length, 1);
    }),
    check('a refused message has a reason and no calls', refused, (reply) => {
      assert.equal(reply.stop, 'refusal');
      assert.notEqual(reply.refusal ?? '', '');
      assert.deepEqual(callIds(reply), []);
      assert.equal(reply.incompleteCalls, 1);
    }),
    check(
      'a stop reason that nobody knows is unknown, and told',
      { text: 'x', stopReason: 'something_new' },
      (reply) => {
        assert.equal(reply.stop, 'unknown');
        assert.equal(reply.stopDetail, 'something_new');
      },
    ),
  ];
}

function callIds(reply: ModelReply): readonly string[] {
  return reply.blocks.flatMap((block) => (block.type === 'tool_use' ? [block.id] : []));
}
