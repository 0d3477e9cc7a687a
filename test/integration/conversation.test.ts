import { setTimeout as sleep } from 'node:timers/promises';
import type { RunHandle } from '../../client/runs/run-handle.js';
import type { AskView } from '../../core/state/ask-view.js';
import {
  ofType,
  openAsk,
  read,
  say,
  startWorld,
  until,
  type StartIn,
  type World,
} from './support/world.js';

let world: World;
beforeAll(async () => {
  world = await startWorld();
});
afterAll(() => world.stop());

const talk = (start: Omit<StartIn, 'agent'>): Promise<RunHandle> =>
  world.start({ agent: 'talker', ...start });

/** The question for the next message, after `last` was answered. */
function nextTurn(run: RunHandle, last: AskView): Promise<AskView> {
  return until('the next answer', async () =>
    (await run.pendingApprovals()).find(({ askId }) => askId !== last.askId),
  );
}

function texts(runId: string): string {
  const body = world.requests(runId).at(-1)?.body;
  return JSON.stringify((JSON.parse(body!) as { messages: unknown }).messages);
}

describe('a conversation', () => {
  test.concurrent('answers each message and waits for the next, until it is closed', async () => {
    const run = await talk({
      runId: 'three',
      replies: [say('Hello.'), read('cup'), say('It is blue.'), say('Goodbye.')],
    });
    const first = await openAsk(run);
    expect(first).toMatchObject({ kind: 'user_message' });
    expect(await run.state()).toMatchObject({ status: 'awaiting_user' });
    await run.sendMessage('Which colour?');
    const second = await nextTurn(run, first);
    await run.sendMessage('Thanks.');
    await nextTurn(run, second);
    await run.close();
    const { result, events } = await world.ended(run);
    expect(result).toMatchObject({
      completed: true,
      detail: 'closed',
      answer: { text: 'Goodbye.' },
      counters: { modelCalls: 4, toolCalls: 1 },
    });
    expect(ofType(events, 'user_message').map(({ text }) => text)).toEqual([
      { text: 'Which colour?' },
      { text: 'Thanks.' },
    ]);
    expect(texts('three')).toMatch(/Hello\..*Which colour\?.*it is blue.*It is blue\..*Thanks\./);
  });

  test.concurrent('ends by itself when its user stays away', async () => {
    const run = await talk({
      runId: 'idle',
      settings: { idleTimeoutMs: 300 },
      replies: [say('Hello.')],
    });
    const { result, events } = await world.ended(run);
    expect(result).toMatchObject({ completed: true, detail: 'idle', answer: { text: 'Hello.' } });
    expect(ofType(events, 'input_provided')).toMatchObject([{ outcome: 'expired' }]);
  });

  test.concurrent('costs no active time while it waits', async () => {
    const run = await talk({ runId: 'patient', replies: [say('Hello.'), say('Bye.')] });
    const ask = await openAsk(run);
    await sleep(700);
    await run.sendMessage('Bye.');
    await nextTurn(run, ask);
    await run.close();
    const { result, events } = await world.ended(run);
    const { activeMs, waitingMs } = result.counters;
    expect(waitingMs).toBeGreaterThanOrEqual(700);
    const last = events.at(-1)!.stamp.at;
    expect(activeMs + waitingMs).toBeGreaterThanOrEqual(last - events[0]!.stamp.at);
  });

  test.concurrent(
    'takes messages that come while it works after the result of the call under way',
    async () => {
      const reached = world.service.hold('busy', 'read');
      const run = await talk({ runId: 'busy', replies: [read(), say('Both heard.')] });
      await reached;
      await run.sendMessage('One more thing.');
      await run.sendMessage('And another.');
      await until('both messages', async () =>
        (await run.state()).queuedMessages === 2 ? true : undefined,
      );
      world.service.releaseAll();
      await openAsk(run);
      expect(world.requests('busy')).toHaveLength(2);
      expect(texts('busy')).toMatch(/tool_use.*tool_result.*One more thing\..*And another\./);
      await run.close();
      const { result } = await world.ended(run);
      expect(result).toMatchObject({ answer: { text: 'Both heard.' } });
    },
  );

  test.concurrent('takes a message with the same id once', async () => {
    const run = await talk({ runId: 'repeated', replies: [say('Hello.'), say('Yes.')] });
    const ask = await openAsk(run);
    await Promise.all([run.sendMessage('Again?', 'm1'), run.sendMessage('Again?', 'm1')]);
    await nextTurn(run, ask);
    await run.sendMessage('Again?', 'm1');
    await run.close();
    const { result, events } = await world.ended(run);
    expect(ofType(events, 'user_message')).toHaveLength(1);
    expect(result.counters.modelCalls).toBe(2);
  });

  test.concurrent('hears several messages at once in their order', async () => {
    const run = await talk({ runId: 'burst', replies: [say('Hello.'), say('Yes.'), say('Yes.')] });
    const ask = await openAsk(run);
    const messages = ['first', 'second', 'third'];
    for (const message of messages) await run.sendMessage(message);
    await nextTurn(run, ask);
    await until('all messages', async () =>
      ofType(await world.events('burst'), 'user_message').length === 3 ? true : undefined,
    );
    await until('rest', async () =>
      (await run.state()).status === 'awaiting_user' ? true : undefined,
    );
    await run.close();
    const { events } = await world.ended(run);
    expect(ofType(events, 'user_message').map(({ text }) => text)).toEqual(
      messages.map((text) => ({ text })),
    );
  });

  test.concurrent(
    'interrupted while it waits, ends interrupted and shows its last answer',
    async () => {
      const run = await talk({ runId: 'stopped', replies: [say('Hello.')] });
      await openAsk(run);
      await run.interrupt();
      const { result } = await world.ended(run);
      expect(result).toMatchObject({
        stopReason: 'interrupted',
        partialOutput: { text: 'Hello.' },
      });
    },
  );

  test.concurrent(
    'closed while it works, is aborted long before a worker would be missed',
    async () => {
      const reached = world.service.hold('closed-early', 'read');
      const run = await talk({
        runId: 'closed-early',
        settings: { heartbeatMs: { repeatable: 600_000, single: 600_000 } },
        replies: [read(), say('Never said.')],
      });
      await reached;
      await run.close();
      const { result, events } = await world.ended(run);
      expect(result).toMatchObject({ status: 'cancelled', stopReason: 'aborted', phase: 'tools' });
      expect(ofType(events, 'tool_finished')).toMatchObject([
        { code: 'interrupted_mid_execution' },
      ]);
      expect(world.requests('closed-early')).toHaveLength(1);
    },
  );

  test.concurrent('refuses blank and endless messages, and any after its end', async () => {
    const run = await talk({ runId: 'refused', replies: [say('Hello.')] });
    await openAsk(run);
    await expect(run.sendMessage('  ')).rejects.toMatchObject({ code: 'InvalidTask' });
    await expect(run.sendMessage('x'.repeat(20_000))).rejects.toMatchObject({
      code: 'InvalidTask',
    });
    await run.close();
    await world.ended(run);
    await expect(run.sendMessage('Hello?')).rejects.toMatchObject({
      code: 'RunNotFound',
      message: expect.stringContaining('has ended'),
    });
  });
});
