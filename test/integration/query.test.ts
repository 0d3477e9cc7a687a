import { getEventListeners } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  LoopError,
  query,
  runOrThrow,
  type CanUseTool,
  type QueryOptions,
  type UserPrompt,
} from '../../client/index.js';
import type { SDKMessage, SDKResultMessage } from '../../core/sdk/message.js';
import { AGENT, APPROVER } from './support/agents.js';
import { openAsk, pay, read, say, startWorld, until, type World } from './support/world.js';

let world: World;
beforeAll(async () => {
  world = await startWorld();
});
afterAll(() => world.stop());

type Replies = Parameters<World['script']>[1];

interface Asked extends Partial<QueryOptions> {
  readonly runId: string;
  readonly replies: Replies;
  readonly prompt?: string | AsyncIterable<UserPrompt>;
}

function ask({ replies, prompt = 'Serve the customer.', ...options }: Asked) {
  world.script(options.runId, replies);
  const client = world.client;
  return query({ prompt, options: { agent: AGENT, decider: APPROVER, client, ...options } });
}

async function all(messages: AsyncIterable<SDKMessage>): Promise<readonly SDKMessage[]> {
  const read_: SDKMessage[] = [];
  for await (const message of messages) read_.push(message);
  return read_;
}

const words = (message: SDKMessage): string =>
  'subtype' in message ? `${message.type}/${message.subtype}` : message.type;

function resultOf(messages: readonly SDKMessage[]): SDKResultMessage {
  const last = messages.at(-1);
  if (last?.type !== 'result') throw new Error(`the last message is ${JSON.stringify(last)}`);
  return last;
}

function statuses(messages: readonly SDKMessage[]) {
  return messages.flatMap((message) =>
    message.type === 'system' && message.subtype === 'status'
      ? [`${message.event} ${message.outcome ?? message.status}`]
      : [],
  );
}

/** Timers, sockets and the like that keep this process alive, by kind. */
function resources(): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const kind of process.getActiveResourcesInfo()) {
    counts.set(kind, (counts.get(kind) ?? 0) + 1);
  }
  return counts;
}

describe('a query', () => {
  test.concurrent('gives the messages of its run, init first and result last', async () => {
    const messages = await all(
      ask({ runId: 'told', replies: [read('cup'), say('It is blue.')], cwd: '/somewhere' }),
    );
    expect(messages.map(words)).toEqual([
      'system/init',
      'assistant',
      'tool_progress',
      'tool_progress',
      'user',
      'assistant',
      'result/success',
    ]);
    expect(messages[0]).toMatchObject({ agent: AGENT, cwd: '/somewhere', session_id: 'told' });
    expect(resultOf(messages)).toMatchObject({ result: 'It is blue.', num_turns: 2 });
  });

  test.concurrent('shows long texts and arguments whole', async () => {
    const long = 'word '.repeat(2_000);
    const replies = [
      { calls: [{ tool: 'any.read', input: { long } }] },
      { text: `${long}end` },
    ] as Replies;
    const messages = await all(ask({ runId: 'long', replies }));
    expect(messages[1]).toMatchObject({ message: { content: [{ input: { long } }] } });
    expect(resultOf(messages)).toMatchObject({ result: `${long}end` });
  });

  test.concurrent('starts nothing before it is read', async () => {
    const unread = ask({ runId: 'unread', replies: [say('Never.')] });
    await sleep(300);
    await expect(world.client.handle('unread').execution()).rejects.toMatchObject({
      code: 'RunNotFound',
    });
    await unread.return();
    expect(await unread.next()).toEqual({ done: true, value: undefined });
  });

  test.concurrent('throws what keeps its run from being opened', async () => {
    const unknown = ask({ runId: 'nobody', agent: 'nobody', replies: [] });
    await expect(unknown.next()).rejects.toMatchObject({ code: 'UnknownAgent' });
    expect(await unknown.next()).toMatchObject({ done: true });
    const model = 'nowhere/model';
    await expect(all(ask({ runId: 'lost-model', model, replies: [] }))).rejects.toMatchObject({
      code: 'UnknownModel',
    });
  });

  test.concurrent('refuses options that nothing would come of', () => {
    const start = (options: object) => () =>
      world.client.query({ prompt: 'x', options: { agent: AGENT, ...options } });
    expect(start({ systemPrompt: 'Be bold.' })).toThrow(/systemPrompt/);
    expect(start({ canUseTool: 'yes' })).toThrow(/canUseTool/);
    return expect(all(start({ maxTurns: 1.5 })())).rejects.toMatchObject({ code: 'InvalidTask' });
  });

  test.concurrent('takes the options of an agent SDK', async () => {
    const messages = await all(
      ask({
        runId: 'options',
        replies: [read(), read('bowl'), say('late')],
        maxTurns: 1,
        permissionMode: 'plan',
        sessionId: 'options-session',
        persistSession: true,
        maxBudgetUsd: 0.25,
      }),
    );
    expect(messages[0]).toMatchObject({
      permissionMode: 'plan',
      session_id: 'options-session',
    });
    expect(resultOf(messages)).toMatchObject({ subtype: 'error_max_turns', num_turns: 1 });
    const saved = await world.store.getSession('default', 'options-session');
    expect(saved).toMatchObject({ runId: 'options' });
  });

  test.concurrent('goes on after the last seen message when it is read again', async () => {
    const replies = [read('cup'), read('plate'), say('Both are blue.')];
    const first: SDKMessage[] = [];
    for await (const message of ask({ runId: 'again', replies })) {
      first.push(message);
      if (message.type === 'user') break;
    }
    const options = { client: world.client };
    const rest = await all(query({ runId: 'again', afterSeq: first.at(-1)!.seq, options }));
    const whole = await all(query({ runId: 'again', options }));
    const uuids = (messages: readonly SDKMessage[]) => messages.map(({ uuid }) => uuid);
    expect(uuids([...first, ...rest])).toEqual(uuids(whole));
    expect(resultOf(rest)).toEqual(resultOf(whole));
    await expect(all(query({ runId: 'no-such-run', options }))).rejects.toMatchObject({
      code: 'RunNotFound',
    });
  });

  test.concurrent('says what is used and asked, and how it ends, beside its messages', async () => {
    const asked = ask({ runId: 'beside', replies: [pay('pay.asked'), say('Paid.')] });
    expect(await asked.sessionId()).toBe('beside');
    await openAsk(world.client.handle('beside'));
    expect(await asked.pendingApprovals()).toMatchObject([{ tool: 'pay.asked' }]);
    const { total_cost_usd } = await asked.totalUsage();
    const ended = asked.result();
    const run = world.client.handle('beside');
    await run.approve((await openAsk(run)).askId, APPROVER);
    expect(await ended).toMatchObject({ completed: true });
    const { total_cost_usd: total } = resultOf(await all(asked));
    expect(total).toBeGreaterThan(total_cost_usd);
    expect((await asked.totalUsage()).total_cost_usd).toBe(total);
  });
});

describe('controls', () => {
  test.concurrent('interrupt, and the stream goes on to the result', async () => {
    const reached = world.service.hold('stop-it', 'read');
    const asked = ask({ runId: 'stop-it', replies: [read(), say('late')] });
    const messages = all(asked);
    await reached;
    await asked.interrupt();
    expect(resultOf(await messages)).toMatchObject({ run_result: { stopReason: 'interrupted' } });
    expect(statuses(await messages)).toEqual(['interruption null']);
  });

  test.concurrent('an aborted controller cancels the run', async () => {
    const abortController = new AbortController();
    const reached = world.service.hold('cancel-it', 'read');
    const asked = ask({ runId: 'cancel-it', replies: [read(), say('late')], abortController });
    const messages = all(asked);
    await reached;
    abortController.abort();
    expect(resultOf(await messages)).toMatchObject({ run_result: { stopReason: 'aborted' } });
    const late = ask({ runId: 'never-begun', replies: [], abortController });
    await expect(late.next()).rejects.toMatchObject({ code: 'Aborted' });
  });

  test.concurrent('another mode answers an open question', async () => {
    const asked = ask({ runId: 'mode', replies: [pay('pay.asked'), say('Not paid.')] });
    const seen: SDKMessage[] = [];
    for await (const message of asked) {
      seen.push(message);
      const isAsk = message.type === 'system' && message.subtype === 'status' && message.ask;
      if (isAsk) await asked.setPermissionMode('plan');
    }
    expect(resultOf(seen)).toMatchObject({ permission_denials: [{ tool_name: 'pay.asked' }] });
    expect(world.service.visits('mode', 'effect')).toHaveLength(0);
  });
});

describe('leaving a query early', () => {
  test.concurrent('leaves the run alone, unless it is to be closed', async () => {
    for (const [runId, closeOnReturn] of [
      ['left', false],
      ['left-closed', true],
    ] as const) {
      const replies = [pay('pay.asked'), say('Paid.')];
      for await (const message of ask({ runId, replies, closeOnReturn })) {
        if (message.type === 'assistant') break;
      }
    }
    const closed = await world.client.handle('left-closed').result({ timeoutMs: 20_000 });
    expect(closed).toMatchObject({ stopReason: 'aborted' });
    const run = world.client.handle('left');
    await run.approve((await openAsk(run)).askId, APPROVER);
    expect(await run.result()).toMatchObject({ completed: true });
  });

  test.concurrent('ends a message that is waited for', async () => {
    const asked = ask({ runId: 'waiting', replies: [pay('pay.asked'), say('Paid.')] });
    const seen: SDKMessage[] = [];
    const reading = (async () => {
      for await (const message of asked) seen.push(message);
    })();
    await until('the question', () => (statuses(seen).length > 0 ? true : undefined));
    await asked.return();
    await reading;
    expect(seen.at(-1)).toMatchObject({ event: 'approval_requested' });
    await world.client.handle('waiting').cancel();
  });
});

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
    const stopping: CanUseTool = async () => ({ behavior: 'deny', message: '', interrupt: true });
    const stopped = ask({ runId: 'no-stop', replies: paying, canUseTool: stopping });
    expect(resultOf(await all(stopped)).run_result).toMatchObject({ completed: false });
    expect(world.service.visits('no', 'effect')).toHaveLength(0);
    expect(world.service.visits('no-stop', 'effect')).toHaveLength(0);
  });

  test.concurrent('other arguments become those of the call', async () => {
    const canUseTool: CanUseTool = async (_tool, input) => ({
      behavior: 'allow',
      updatedInput: { ...input, amountCents: 300 },
    });
    const messages = await all(ask({ runId: 'changed', replies: paying, canUseTool }));
    expect(statuses(messages)).toContain('approval_resolved modified');
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
    for await (const message of ask({ runId: 'handed', replies: paying, canUseTool: silent })) {
      if (statuses([message]).length > 0) break;
    }
    const canUseTool: CanUseTool = async () => ({ behavior: 'allow' });
    const options = { client: world.client, decider: APPROVER, canUseTool };
    const rest = await all(query({ runId: 'handed', options }));
    expect(resultOf(rest).subtype).toBe('success');
    expect(world.service.visits('handed', 'effect')).toHaveLength(1);
    let asked = 0;
    const counting: CanUseTool = async () => {
      asked += 1;
      return { behavior: 'deny', message: 'too late' };
    };
    await all(query({ runId: 'handed', options: { ...options, canUseTool: counting } }));
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
});

describe('a conversation', () => {
  test.concurrent(
    'takes each message when the run waits for it, and is closed after the last',
    async () => {
      const taken: string[] = [];
      async function* prompt(): AsyncGenerator<UserPrompt> {
        for (const text of ['Hello?', 'Which colour?']) {
          taken.push(text);
          yield text;
        }
        yield {
          type: 'user',
          message: { role: 'user', content: [{ type: 'text', text: 'Bye.' }] },
        };
      }
      const replies = [say('Hello.'), say('Blue.'), say('Goodbye.')];
      const messages = await all(ask({ runId: 'talk', replies, prompt: prompt() }));
      expect(messages.filter(({ type }) => type === 'assistant')).toHaveLength(3);
      expect(taken).toEqual(['Hello?', 'Which colour?']);
      expect(resultOf(messages)).toMatchObject({
        result: 'Goodbye.',
        run_result: { detail: 'closed' },
      });
      expect(
        messages.flatMap((message) => (message.type === 'user' ? [message.message.content] : [])),
      ).toEqual(['Which colour?', 'Bye.']);
    },
  );

  test.concurrent('an input that fails ends the reading, not the run', async () => {
    async function* prompt(): AsyncGenerator<UserPrompt> {
      yield 'Hello?';
      throw new Error('the line is dead');
    }
    const replies = [say('Hello.')];
    await expect(all(ask({ runId: 'dead-line', replies, prompt: prompt() }))).rejects.toThrow(
      'the line is dead',
    );
    const run = world.client.handle('dead-line');
    expect(await run.state()).toMatchObject({ status: 'awaiting_user' });
    await run.close();
  });

  test.concurrent('left while its user thinks, ends their input', async () => {
    let ended = false;
    async function* prompt(): AsyncGenerator<UserPrompt> {
      try {
        yield 'Hello?';
        yield 'Still there?';
      } finally {
        ended = true;
      }
    }
    const replies = [say('Hello.'), say('Yes.')];
    for await (const message of ask({
      runId: 'thinking',
      replies,
      prompt: prompt(),
      closeOnReturn: true,
    })) {
      if (message.type === 'assistant') break;
    }
    await until('the end of the input', () => ended || undefined);
    await world.client.handle('thinking').result();
  });
});

describe('runOrThrow', () => {
  test.concurrent('gives the result of a run that completed', async () => {
    world.script('whole', [say('Done.')]);
    const options = { agent: AGENT, runId: 'whole', client: world.client };
    const { result } = await runOrThrow({ prompt: 'Serve.', options });
    expect(result).toBe('Done.');
  });

  test.concurrent('throws a LoopError for any other stop', async () => {
    world.script('stopped', [read(), say('late')]);
    const options = { agent: AGENT, runId: 'stopped', client: world.client, maxTurns: 1 };
    const failure = await runOrThrow({ prompt: 'Serve.', options }).catch((error) => error);
    expect(failure).toBeInstanceOf(LoopError);
    expect(failure).toMatchObject({
      code: 'RunNotCompleted',
      message: expect.stringContaining('max_turns'),
      result: { stopReason: 'max_turns' },
      ending: { subtype: 'error_max_turns' },
    });
  });
});

test('a query over a connection of its own leaves no timer and no socket behind', async () => {
  const connection = { address: world.server.address, store: world.store };
  const abortController = new AbortController();
  const leave = async (runId: string) => {
    world.script(runId, [pay('pay.asked'), say('Paid.')]);
    const canUseTool: CanUseTool = () => new Promise(() => undefined);
    const options = { agent: AGENT, runId, connection, canUseTool, abortController };
    for await (const message of query({ prompt: 'Serve.', options })) {
      if (statuses([message]).length > 0) break;
    }
    await world.client.handle(runId).cancel();
    await world.client.handle(runId).result();
  };
  await leave('warm-up');
  await sleep(1_000);
  const before = resources();
  const runIds = Array.from({ length: 8 }, (_, index) => `leave-${index}`);
  for (const runId of runIds) await leave(runId);
  const grown = () => {
    const kinds = [...resources()].filter(([kind, count]) => count > (before.get(kind) ?? 0) + 3);
    return kinds.filter(([kind]) => kind !== 'Immediate');
  };
  // Connections of others to the scripted model stay open for a moment.
  await until('rest', () => (grown().length === 0 ? true : undefined), 10_000).catch(() =>
    expect(grown()).toEqual([]),
  );
  expect(getEventListeners(abortController.signal, 'abort')).toEqual([]);
});
