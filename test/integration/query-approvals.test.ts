import { setTimeout as sleep } from 'node:timers/promises';
import type { CanUseTool, OnQuestion } from '../../client/index.js';
import { APPROVER } from './support/agents.js';
import {
  all,
  ask as askIn,
  follow,
  resultOf,
  statuses,
  type QueryOfTest,
  type Replies,
} from './support/queries.js';
import { openAsk, pay, say, startWorld, until, type World } from './support/world.js';

let world: World;
beforeAll(async () => {
  world = await startWorld();
});
afterAll(() => world.stop());

const ask = (asked: QueryOfTest) => askIn(world, asked);

describe('the callback canUseTool', () => {
  const paying = [pay('pay.asked', 700), say('Settled.')];

  test.concurrent('is shown the call, and its yes is the approval', async () => {
    const shown: unknown[] = [];
    const canUseTool: CanUseTool = async (tool, input, { toolUseID, ask: { argsHash } }) => {
      shown.push({ tool, input, toolUseID, argsHash });
      return { behavior: 'allow', updatedInput: { amountCents: 700, order: 'A1' } };
    };
    const messages = await all(ask({ runId: 'yes', replies: paying, canUseTool }));
    expect(shown).toEqual([
      {
        tool: 'pay.asked',
        input: { order: 'A1', amountCents: 700 },
        toolUseID: expect.any(String),
        argsHash: expect.any(String),
      },
    ]);
    expect(statuses(messages)).toEqual([
      'approval_requested awaiting_approval',
      'approval_resolved approved',
    ]);
    expect(world.service.visits('yes', 'effect')).toHaveLength(1);
  });

  test.concurrent('its no reaches the model as the reason, and may stop the run', async () => {
    const canUseTool: CanUseTool = async () => ({ behavior: 'deny', message: 'No receipt.' });
    const messages = await all(ask({ runId: 'no', replies: paying, canUseTool }));
    expect(resultOf(messages).permission_denials).toHaveLength(1);
    expect(JSON.stringify(messages)).toContain('No receipt.');
    expect(world.service.visits('no', 'effect')).toHaveLength(0);
    const stopping: CanUseTool = async () => ({
      behavior: 'deny',
      message: 'No!',
      interrupt: true,
    });
    const stopped = await all(ask({ runId: 'no-stop', replies: paying, canUseTool: stopping }));
    expect(resultOf(stopped)).toMatchObject({
      run_result: { stopReason: 'interrupted' },
      permission_denials: [{ tool_name: 'pay.asked' }],
    });
    expect(JSON.stringify(stopped)).toContain('rejected: No!');
    expect(world.requests('no-stop')).toHaveLength(1);
    expect(world.service.visits('no-stop', 'effect')).toHaveLength(0);
  });

  test.concurrent('other arguments become those of the call', async () => {
    const canUseTool: CanUseTool = async (_tool, input) => ({
      behavior: 'allow',
      updatedInput: { ...input, amountCents: 300 },
    });
    const messages = await all(ask({ runId: 'changed', replies: paying, canUseTool }));
    expect(statuses(messages)).toContain('approval_resolved modified');
    expect(messages).toContainEqual(
      expect.objectContaining({
        corrected: expect.objectContaining({
          tool_name: 'pay.asked',
          input: expect.objectContaining({ amountCents: 300 }),
        }),
      }),
    );
    expect(resultOf(messages).subtype).toBe('success');
  });

  test.concurrent('that throws or mumbles decides nothing: the question stays open', async () => {
    const failing = {
      throws: async () => {
        throw new Error('the desk is on fire');
      },
      mumbles: async () => ({ behavior: 'perhaps' }),
      'says-true': async () => true,
    };
    for (const [runId, callback] of Object.entries(failing)) {
      const canUseTool = callback as unknown as CanUseTool;
      const reading = all(ask({ runId, replies: paying, canUseTool }));
      await expect(reading).rejects.toThrow(/on fire|no answer/);
      const run = world.client.handle(runId);
      const { askId } = await openAsk(run);
      expect(world.service.visits(runId, 'effect')).toHaveLength(0);
      await run.reject(askId, APPROVER);
      expect(await run.result()).toMatchObject({ counters: { deniedCalls: 1 } });
    }
  });

  test.concurrent('asked again by another reader, when the first one is gone', async () => {
    let firstAsked = 0;
    const silent: CanUseTool = (_tool, _input, { signal }) => {
      firstAsked += 1;
      return new Promise((resolve) => signal.addEventListener('abort', () => resolve(null)));
    };
    let last = -1;
    for await (const message of ask({ runId: 'handed', replies: paying, canUseTool: silent })) {
      last = message.seq;
      if (statuses([message]).length > 0) break;
    }
    const canUseTool: CanUseTool = async () => ({ behavior: 'allow' });
    const rest = await all(follow(world, 'handed', { afterSeq: last, canUseTool }));
    expect(resultOf(rest).subtype).toBe('success');
    expect(world.service.visits('handed', 'effect')).toHaveLength(1);
    let asked = 0;
    const counting: CanUseTool = async () => {
      asked += 1;
      return { behavior: 'deny', message: 'too late' };
    };
    await all(follow(world, 'handed', { canUseTool: counting }));
    expect([firstAsked <= 1, asked]).toEqual([true, 0]);
  });

  test.concurrent('too slow an answer changes nothing that was decided meanwhile', async () => {
    let aborted = false;
    const canUseTool: CanUseTool = async (_tool, _input, { signal, ask: { askId } }) => {
      await world.client.handle('slow').reject(askId, APPROVER);
      await until('the end of the question', () => signal.aborted || undefined);
      aborted = true;
      return { behavior: 'allow' };
    };
    const messages = await all(ask({ runId: 'slow', replies: paying, canUseTool }));
    expect(aborted).toBe(true);
    expect(resultOf(messages).permission_denials).toHaveLength(1);
    expect(world.service.visits('slow', 'effect')).toHaveLength(0);
  });

  test.concurrent('an answer after the expiry does not count', async () => {
    const canUseTool: CanUseTool = async () => {
      await sleep(1_500);
      return { behavior: 'allow' };
    };
    const settings = { approvalTimeoutMs: 300 };
    const messages = await all(ask({ runId: 'expired', replies: paying, canUseTool, settings }));
    expect(statuses(messages)).toContain('approval_resolved expired');
    expect(world.service.visits('expired', 'effect')).toHaveLength(0);
  });

  test.concurrent('a decision that the run refuses is told', async () => {
    const canUseTool: CanUseTool = async () => ({ behavior: 'allow' });
    const asked = ask({
      runId: 'no-role',
      replies: paying,
      canUseTool,
      decider: { by: 'somebody' },
    });
    await expect(all(asked)).rejects.toMatchObject({
      code: 'DecisionRejected',
      details: { reason: 'role_missing' },
    });
    await world.client.handle('no-role').cancel();
  });

  test.concurrent('questions of the agent go to onQuestion', async () => {
    const replies = [
      { calls: [{ tool: 'ask_person', input: { question: 'Which colour?' } }] },
      say('Blue, then.'),
    ] as Replies;
    const messages = await all(
      ask({
        runId: 'question',
        replies,
        onQuestion: async ({ question }) => ({ kind: 'text', value: `blue (${question})` }),
      }),
    );
    expect(JSON.stringify(messages)).toContain('blue (Which colour?)');
  });

  const asking = [
    { calls: [{ tool: 'ask_manager', input: { question: 'May I?' } }] },
    say('I may.'),
  ] as Replies;
  const onQuestion: OnQuestion = async () => ({ kind: 'text', value: 'You may.' });

  test.concurrent('an answer comes with the roles of its decider', async () => {
    const asked = ask({ runId: 'manager', replies: asking, onQuestion, decider: APPROVER });
    expect(resultOf(await all(asked))).toMatchObject({ subtype: 'success', result: 'I may.' });
  });

  test.concurrent(
    'an answer of somebody who may not give it ends the reading, at once',
    async () => {
      const decider = { by: 'somebody' };
      const asked = ask({ runId: 'no-manager', replies: asking, onQuestion, decider });
      await expect(all(asked)).rejects.toMatchObject({
        code: 'DecisionRejected',
        details: { reason: 'role_missing' },
      });
      await world.client.handle('no-manager').cancel();
    },
  );
});
