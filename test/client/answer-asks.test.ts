/** What callbacks of a query may return: an unclear answer decides nothing, and says which answers there are. */
import { answering, type Questioned } from '../../client/query/answer-asks.js';
import type { RunEvent } from '../../core/state/event.js';

const ask = { askId: 'a1', argsHash: '0', args: {}, tool: 'pay', callId: 'c1' };

async function failureOf(kind: string, callbacks: object): Promise<unknown> {
  const decided: unknown[] = [];
  const failed = new Promise((fail) => {
    const asked = {
      run: { runId: 'r', tenant: 'default', decide: async (one: unknown) => decided.push(one) },
      store: {
        getAsk: async () => ({ outcome: 'pending' }),
        restoreArguments: async (_: string, args: unknown) => args,
      },
      options: callbacks,
      fail,
    };
    const type = kind === 'approval' ? 'approval_requested' : 'input_request';
    answering(asked as unknown as Questioned).notice({ ...ask, type, kind } as unknown as RunEvent);
  });
  const error = await failed;
  expect(decided).toEqual([]);
  return error;
}

test.each([
  [true, 'boolean'],
  ['allow', 'string'],
  [{}, 'an object with no fields'],
  [{ behavior: 'yes', message: 'secret' }, 'an object with behavior, message'],
])(
  'canUseTool that returns %j is told the answers of its type, and what it gave as %s',
  async (answer, kind) => {
    expect(await failureOf('approval', { canUseTool: async () => answer })).toMatchObject({
      code: 'InvalidTask',
      message: 'canUseTool returned no answer.',
      details: { answer: kind },
      hint: "Return { behavior: 'allow', updatedInput?, grant? } or { behavior: 'deny', message }, or null to leave the question to others.",
    });
  },
);

test.each([true, { kind: 'yes' }])(
  'onQuestion that returns %j is told its answers',
  async (answer) => {
    expect(await failureOf('clarify', { onQuestion: async () => answer })).toMatchObject({
      code: 'InvalidTask',
      hint: expect.stringMatching(
        /^Return \{ kind: 'text', value \}, or another kind: .*, or null/,
      ) as string,
    });
  },
);
