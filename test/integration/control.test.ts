/** What a run does when its model fails, when a person steers it, and when it is told to pause. */
import { tmpdir } from 'node:os';
import { query } from '../../client/index.js';
import { APPROVER } from './support/agents.js';
import { holdfastAt } from './support/cli-at.js';
import {
  ofType,
  openAsk,
  pay,
  read,
  say,
  startWorld,
  until,
  warnings,
  type World,
} from './support/world.js';

let world: World;
beforeAll(async () => {
  world = await startWorld();
});
afterAll(() => world.stop());

interface Body {
  readonly model: string;
  readonly thinking?: unknown;
  readonly temperature?: number;
  readonly tool_choice?: unknown;
}

function bodies(runId: string): readonly Body[] {
  return world.requests(runId).map(({ body }) => JSON.parse(body!) as Body);
}

describe('a person steers a run', () => {
  test.concurrent('to another model, which does not get the thinking of the first', async () => {
    const run = await world.start({
      agent: 'talker',
      runId: 'steered',
      replies: [{ ...say('Hello.'), thinking: 'Let me see' }, say('Hello again.')],
    });
    const first = await openAsk(run);
    await run.setModel('nobody/knows');
    await until(
      'the refusal',
      async () => warnings(await world.events('steered')).includes('model_refused') || undefined,
    );
    await run.setModel('scripted/second');
    await run.setMaxThinkingTokens(2_048);
    await run.sendMessage('And now?');
    await until('the next answer', async () =>
      (await run.pendingApprovals()).find(({ askId }) => askId !== first.askId),
    );
    expect(await run.state()).toMatchObject({ model: 'scripted/second' });
    await run.close();
    const { result, events } = await world.ended(run);
    expect(result.completed).toBe(true);
    const [, body] = bodies('steered');
    expect(body).toMatchObject({
      model: 'second',
      thinking: { type: 'enabled', budget_tokens: 2_048 },
    });
    expect(body).not.toHaveProperty('temperature');
    expect(JSON.stringify(body)).not.toContain('Let me see');
    expect(ofType(events, 'warning')).toMatchObject([{ code: 'model_refused' }]);
  });

  test.concurrent('with something that cannot be set: told at once', async () => {
    const run = await world.start({ agent: 'talker', runId: 'misled', replies: [say('Hello.')] });
    await expect(run.setModel(' ')).rejects.toMatchObject({ code: 'InvalidTask' });
    await expect(run.setMaxThinkingTokens(-1)).rejects.toMatchObject({ code: 'InvalidTask' });
    await openAsk(run);
    await run.close();
    await world.ended(run);
  });
});

test.concurrent('S107: the fallback takes over from a model that broke off', async () => {
  const broken = {
    text: 'word '.repeat(20),
    chunks: 20,
    errorEventAfterChunks: 10,
    errorType: 'overloaded_error',
  };
  const run = await world.start({
    runId: 'fallen-back',
    settings: { fallbackModel: 'scripted/spare' },
    budget: { maxRetriesPerModelCall: 1 },
    replies: [[broken, { status: 529 }, say('Saved.')]],
  });
  const { result, events } = await world.ended(run);
  expect(result).toMatchObject({ answer: { text: 'Saved.' }, counters: { fallbacks: 1 } });
  expect(
    bodies('fallen-back')
      .map(({ model }) => model)
      .slice(1),
  ).toEqual([expect.not.stringMatching('spare'), 'spare']);
  expect(ofType(events, 'retry')).toMatchObject([{ class: 'Overloaded', attempt: 2 }]);
  const [tombstone] = ofType(events, 'tombstone');
  const [reply] = ofType(events, 'model_response');
  expect(tombstone?.targetMessageId).toBeDefined();
  expect(reply?.messageId).not.toBe(tombstone?.targetMessageId);
});

test.concurrent('an interrupt that pauses keeps what had arrived and waits', async () => {
  const run = await world.start({
    runId: 'paused',
    settings: { interruptMode: 'pause' },
    replies: [{ ...say('word '.repeat(100)), chunks: 100, chunkDelayMs: 100 }, say('Done.')],
  });
  await until('the request', async () => world.requests('paused').at(0));
  await run.interrupt();
  await openAsk(run);
  expect(await run.state()).toMatchObject({ status: 'awaiting_user' });
  await run.sendMessage('Go on.');
  const { result, events } = await world.ended(run);
  expect(result).toMatchObject({ completed: true, answer: { text: 'Done.' } });
  expect(ofType(events, 'interruption')).toHaveLength(1);
});

test.concurrent(
  'whoever stops a run that has ended hears that, of a query and of a cancel nothing',
  async () => {
    const run = await world.start({ runId: 'over', replies: [say('Done.')] });
    await world.ended(run);
    const ended = { code: 'RunNotFound', details: { runId: 'over', ended: true } };
    await expect(run.interrupt()).rejects.toMatchObject(ended);
    await expect(run.close()).rejects.toMatchObject(ended);
    await run.cancel();
    const { client } = world;
    for (const name of ['interrupt', 'close'] as const) {
      const attached = query({ runId: 'over', options: { client } });
      await attached[name]();
      await attached.return?.();
    }
    const folder = tmpdir();
    const { address, namespace } = world.place;
    for (const command of ['interrupt', 'close', 'cancel']) {
      const words = [command, 'over', '--namespace', namespace];
      const { code, err } = await holdfastAt({ folder, address }, words);
      expect(code).toBe(1);
      expect(err).toContain('Run over has ended');
    }
  },
);

test.concurrent('an interrupt between two attempts of a model call loses no cost', async () => {
  const broken = {
    text: 'word '.repeat(20),
    chunks: 20,
    errorEventAfterChunks: 10,
    errorType: 'overloaded_error',
  };
  const run = await world.start({
    runId: 'between-attempts',
    replies: [[broken, { status: 529, retryAfterSeconds: 60 }, say('Late.')]],
  });
  await until('the second attempt', async () => world.requests('between-attempts').at(1));
  await until('the time between attempts', async () => {
    const { raw } = await world.raw.workflow.getHandle('between-attempts').describe();
    const [waiting] = raw.pendingActivities ?? [];
    return waiting?.attempt === 3 ? waiting : undefined;
  });
  await run.interrupt();
  const { result } = await world.ended(run);
  expect(result.stopReason).toBe('interrupted');
  expect(result.usage.output).toBeGreaterThan(0);
  expect(result.costMicroUsd).toBeGreaterThan(0);
});

test.concurrent('wall time ends a run that waits for a person', async () => {
  const run = await world.start({
    runId: 'walled',
    settings: { timeoutCounts: 'wall' },
    budget: { timeoutMs: 12_000 },
    replies: [pay('pay.asked'), say('Late.')],
  });
  const { result, events } = await world.ended(run);
  expect(result.stopReason).toBe('timeout');
  expect(ofType(events, 'approval_withdrawn')).toHaveLength(1);
});

test.concurrent('S65: the last word of a run whose tool calls are used up', async () => {
  const run = await world.start({
    runId: 'wrapped-up',
    settings: { wrapUpTurn: true },
    budget: { maxToolCalls: 1 },
    replies: [read('cup'), say('This far.')],
  });
  const { result } = await world.ended(run);
  expect(result).toMatchObject({
    stopReason: 'max_tool_calls',
    partialOutput: { text: 'This far.' },
  });
  expect(bodies('wrapped-up')[1]).toMatchObject({ tool_choice: { type: 'none' } });
});

test.concurrent(
  'a run that is told to goes on in a new segment, with its open question',
  async () => {
    const run = await world.start({
      runId: 'renewed',
      replies: [pay('pay.asked'), say('Paid.')],
    });
    const { askId } = await openAsk(run);
    await run.nextSegment();
    await until('the next segment', async () => {
      const { segment, opened } = await run.state();
      return segment === 1 && opened ? true : undefined;
    });
    await run.approve(askId, APPROVER);
    const { result, events } = await world.ended(run);
    expect(result).toMatchObject({ completed: true, counters: { toolCalls: 1 } });
    expect(
      ofType(events, 'transition').filter(({ reason }) => reason === 'continued_as_new'),
    ).toHaveLength(1);
    expect(ofType(events, 'warning')).toEqual([]);
  },
);
