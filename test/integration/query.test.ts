import { holdfast, placeOf } from './support/command.js';
import { getEventListeners } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  connect,
  LoopError,
  query,
  runOrThrow,
  type CanUseTool,
  type UserPrompt,
} from '../../client/index.js';
import type { SDKMessage } from '../../pure/sdk/message.js';
import { startTcpProxy } from '../../testing/index.js';
import { AGENT, APPROVER } from './support/agents.js';
import {
  all,
  ask as askIn,
  follow,
  resultOf,
  statuses,
  words,
  type QueryOfTest,
  type Replies,
} from './support/queries.js';
import { openAsk, pay, read, say, startWorld, until, type World } from './support/world.js';

let world: World;
beforeAll(async () => {
  world = await startWorld();
});
afterAll(() => world.stop());

const ask = (asked: QueryOfTest) => askIn(world, asked);

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

  test.concurrent('shows what the model thought, however much, before what it said', async () => {
    const long = 'Let me see. '.repeat(1_000);
    const replies = [
      { ...read('cup'), thinking: long },
      { ...say('It is blue.'), thinking: 'Blue it is.' },
    ];
    const messages = await all(ask({ runId: 'thoughtful', replies }));
    const shown = messages.flatMap((one) =>
      one.type === 'assistant' ? [one.message.content] : [],
    );
    expect(shown).toMatchObject([
      [{ type: 'thinking', thinking: long }, { type: 'tool_use' }],
      [
        { type: 'thinking', thinking: 'Blue it is.' },
        { type: 'text', text: 'It is blue.' },
      ],
    ]);
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
    const shown = await holdfast(placeOf(world), ['show', 'lost-model']);
    expect(shown.out).toMatch(/: failed\n[^]*Not opened: .*nowhere/);
    expect(shown.out).not.toContain('HOLDFAST_STORE');
  });

  test.concurrent('refuses options that nothing would come of', () => {
    const start = (options: object) => () =>
      world.client.query({ prompt: 'x', options: { agent: AGENT, ...options } });
    expect(start({ systemPrompt: 'Be bold.' })).toThrow(/systemPrompt/);
    expect(start({ canUseTool: 'yes' })).toThrow(/canUseTool/);
    return expect(all(start({ maxTurns: 1.5 })())).rejects.toMatchObject({ code: 'InvalidTask' });
  });

  test.concurrent('takes the options of an agent SDK', async () => {
    const betas = ['files-api-2025-04-14'];
    const messages = await all(
      ask({
        runId: 'options',
        replies: [read(), read('bowl'), say('late')],
        maxTurns: 1,
        betas,
        permissionMode: 'plan',
        tools: ['facts.read', 'pay.asked'],
        disallowedTools: ['pay.*'],
        sessionId: 'options-session',
        persistSession: true,
        maxBudgetUsd: 0.25,
      }),
    );
    expect(messages[0]).toMatchObject({
      permissionMode: 'plan',
      session_id: 'options-session',
      betas,
      tools: ['facts.read'],
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
    const rest = await all(follow(world, 'again', { afterSeq: first.at(-1)!.seq }));
    const whole = await all(follow(world, 'again'));
    const uuids = (messages: readonly SDKMessage[]) => messages.map(({ uuid }) => uuid);
    expect(uuids([...first, ...rest])).toEqual(uuids(whole));
    expect(resultOf(rest)).toEqual(resultOf(whole));
    await expect(all(follow(world, 'no-such-run'))).rejects.toMatchObject({
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
    // Begun for the caller too: before that, an abort is an error.
    await asked.next();
    const messages = all(asked);
    await reached;
    abortController.abort();
    expect(resultOf(await messages)).toMatchObject({ run_result: { stopReason: 'aborted' } });
    const late = ask({ runId: 'never-begun', replies: [], abortController });
    await expect(late.next()).rejects.toMatchObject({ code: 'Aborted' });
  });

  test.concurrent('stopping a run that has ended changes nothing', async () => {
    const asked = ask({ runId: 'over', replies: [say('Done.')] });
    await all(asked);
    const again = follow(world, 'over');
    for (const { interrupt, close } of [asked, again]) {
      await interrupt();
      await close();
    }
    await again.return();
    expect(await world.client.handle('over').result()).toMatchObject({ completed: true });
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

describe('a control that cannot be obeyed', () => {
  test.concurrent('is refused at once where its value means nothing', async () => {
    const asked = ask({ runId: 'nonsense', replies: [say('Fine.')] });
    const nonsense = 'yolo' as 'plan';
    await expect(asked.setPermissionMode(nonsense)).rejects.toMatchObject({ code: 'InvalidTask' });
    await expect(asked.setMaxThinkingTokens(-1)).rejects.toMatchObject({ code: 'InvalidTask' });
    expect(resultOf(await all(asked))).toMatchObject({ subtype: 'success' });
  });

  test.concurrent('is told by the messages where only the run can know', async () => {
    const asked = ask({ runId: 'refused', replies: [pay('pay.asked'), say('Not paid.')] });
    const seen: SDKMessage[] = [];
    for await (const message of asked) {
      seen.push(message);
      const isAsk = message.type === 'system' && message.subtype === 'status' && message.ask;
      if (!isAsk) continue;
      await asked.setModel('nowhere/model');
      await asked.setPermissionMode('bypassPermissions');
      await asked.setPermissionMode('plan');
    }
    const refused = seen.filter(
      (message) =>
        message.type === 'system' && 'event' in message && message.event === 'control_refused',
    );
    expect(refused).toHaveLength(2);
    expect(JSON.stringify(refused)).toMatch(/nowhere\/model/);
    expect(JSON.stringify(refused)).toMatch(/bypassPermissions is not unlocked/);
    expect(resultOf(seen)).toMatchObject({ permission_denials: [{ tool_name: 'pay.asked' }] });
  });
});

describe('a query whose run nobody opens', () => {
  const unserved = (asked: Omit<QueryOfTest, 'replies'>) =>
    connect({ ...world.place, taskQueue: 'nobody', store: world.store }).then((client) => ({
      client,
      asked: query({ prompt: 'Serve.', options: { agent: AGENT, client, wait: true, ...asked } }),
    }));
  const was = async (runId: string) =>
    (await world.history(runId)).events!.map(
      ({ workflowExecutionSignaledEventAttributes: signal, ...event }) =>
        signal?.signalName ?? (event.workflowExecutionCancelRequestedEventAttributes && 'cancel'),
    );

  test.concurrent('is cancelled when it is aborted, without waiting for a worker', async () => {
    const abortController = new AbortController();
    const { client, asked } = await unserved({ runId: 'unserved', abortController });
    const first = asked.next();
    first.catch(() => undefined);
    await until('the run', () => was('unserved').catch(() => undefined));
    const began = performance.now();
    abortController.abort();
    await expect(first).rejects.toMatchObject({ code: 'Aborted' });
    expect(performance.now() - began).toBeLessThan(30_000);
    expect(await was('unserved')).toContain('cancel');
    expect(getEventListeners(abortController.signal, 'abort')).toEqual([]);
    await client.close();
  });

  test.concurrent('is closed when it was to be closed, and left otherwise', async () => {
    for (const closeOnReturn of [true, false]) {
      const runId = `unopened-${closeOnReturn}`;
      const { client, asked } = await unserved({ runId, closeOnReturn, openLimitMs: 500 });
      await expect(asked.next()).rejects.toMatchObject({ code: 'ServerUnavailable' });
      expect((await was(runId)).includes('close')).toBe(closeOnReturn);
      await client.close();
    }
  });

  test.concurrent('is not started for a user who is aborted before their first word', async () => {
    const abortController = new AbortController();
    const prompt: AsyncIterable<UserPrompt> = {
      [Symbol.asyncIterator]: () => ({ next: () => new Promise(() => undefined) }),
    };
    const asked = ask({ runId: 'wordless', replies: [say('?')], prompt, abortController });
    const first = asked.next();
    first.catch(() => undefined);
    await sleep(100);
    abortController.abort();
    await expect(first).rejects.toMatchObject({ code: 'Aborted' });
    await expect(world.client.handle('wordless').execution()).rejects.toMatchObject({
      code: 'RunNotFound',
    });
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

  test('a message that was taken is delivered over an outage of the server', async () => {
    const proxy = await startTcpProxy({ target: world.place.address });
    async function* prompt(): AsyncGenerator<UserPrompt> {
      yield 'Hello?';
      proxy.refuse();
      proxy.cut();
      // Longer than one call has patience.
      setTimeout(() => proxy.restore(), 12_000);
      yield 'Which colour?';
    }
    world.script('outage', [say('Hello.'), say('Blue.')]);
    const connection = { ...world.place, address: proxy.address, store: world.store };
    const options = { agent: AGENT, runId: 'outage', connection };
    const messages = await all(query({ prompt: prompt(), options }));
    expect(resultOf(messages)).toMatchObject({ subtype: 'success', result: 'Blue.' });
    expect(messages.filter(({ type }) => type === 'user')).toHaveLength(1);
    await proxy.stop();
  });

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
  const proxy = await startTcpProxy({ target: world.place.address });
  const connection = { ...world.place, address: proxy.address, store: world.store };
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
  // Every connection that went through here has been closed.
  expect(proxy.cut()).toBe(0);
  await proxy.stop();
  expect(getEventListeners(abortController.signal, 'abort')).toEqual([]);
});
