/**
 * Values that tools and models should not give, on the real server: stored by reference or refused clearly;
 * no payload beyond its limit, no workflow task that fails.
 */
import { type Json, PAYLOAD_BYTES_MAX } from '../../core/json/json.js';
import { replayRuns } from '../../testing/replay.js';
import { APPROVER, type Oddity } from './support/agents.js';
import {
  call,
  ofType,
  openAsk,
  say,
  startWorld,
  warnings,
  type Ended,
  type History,
  type StartIn,
  type World,
} from './support/world.js';

const MEGABYTE = 1024 * 1024;
/** Of a reply: what it costs is not the question here. */
const USAGE = { input: 100, output: 100 };

let world: World;
beforeAll(async () => {
  world = await startWorld();
});
afterAll(() => world.stop());

/** Inputs and results of activities; the first opening carries the start as it was sent. */
function payloadBytes({ events = [] }: History): readonly number[] {
  return (events ?? []).flatMap((event) => {
    const scheduled = event.activityTaskScheduledEventAttributes;
    const payloads =
      scheduled?.activityType?.name === 'open_run'
        ? []
        : [
            ...(scheduled?.input?.payloads ?? []),
            ...(event.activityTaskCompletedEventAttributes?.result?.payloads ?? []),
          ];
    return payloads.map(({ data }) => data?.length ?? 0);
  });
}

/** Runs one to its end; nothing of it may be too large. */
async function play(start: StartIn): Promise<Ended> {
  const ended = await world.ended(await world.start(start));
  expect(Math.max(...payloadBytes(ended.history))).toBeLessThanOrEqual(PAYLOAD_BYTES_MAX);
  return ended;
}

function proposing(runId: string, tool: string, rawInput: string): Promise<Ended> {
  const replies = [{ calls: [{ tool, rawInput }], usage: USAGE }, say('Finished.')];
  return play({ runId, replies, budget: { maxInvalidProposals: 'unlimited' } });
}

function finishedOf({ events }: Ended) {
  return ofType(events, 'tool_finished').map(({ status, code, content }) => ({
    status,
    code,
    content,
  }));
}

describe('what a tool returns', () => {
  const odd = (how: Oddity): Promise<Ended> =>
    play({ runId: `returns-${how}`, replies: [call('odd.read', { how }), say('Finished.')] });

  test.concurrent('nesting of 10,000 levels is kept as a text, or refused by name', async () => {
    const ended = await odd('deep');
    expect(ended.result.completed).toBe(true);
    // Whether so deep a value can be written as JSON is up to the engine's stack.
    const [kept] = finishedOf(ended).map(({ status, code = '' }) => `${status} ${code}`);
    expect(['ok ', 'error malformed_result']).toContain(kept);
  });

  test.concurrent('unpaired surrogates become valid text', async () => {
    const text = 'one \ufffd and \ufffd';
    expect(finishedOf(await odd('surrogates'))).toMatchObject([
      { status: 'ok', content: { text } },
    ]);
    expect(world.requests('returns-surrogates')[1]?.body).toContain(text);
  });

  test.concurrent('names of prototypes are data', async () => {
    const [{ status, content } = { status: 'none', content: { text: '' } }] = finishedOf(
      await odd('proto'),
    );
    expect(status).toBe('ok');
    expect('text' in content && content.text).toContain('"__proto__":{"polluted":true}');
    expect({}).not.toHaveProperty('polluted');
  });

  test.concurrent('infinite numbers are refused, and not made into others', async () => {
    expect(finishedOf(await odd('infinity'))).toMatchObject([
      { code: 'malformed_result', content: { text: expect.stringContaining('up is Infinity') } },
    ]);
  });

  test.concurrent('a huge integer reaches the model as it is written', async () => {
    const [{ content } = { content: { text: '' } }] = finishedOf(await odd('huge_integer'));
    expect('text' in content && content.text).toContain(String(2 ** 60 + 2 ** 10));
  });

  test.concurrent(
    'many results of control characters, six letters each in JSON, stay small',
    async () => {
      const calls = new Array(8).fill({ tool: 'odd.read', input: { how: 'controls' } });
      const ended = await play({ runId: 'controls', replies: [{ calls }, say('Finished.')] });
      expect(ended.result).toMatchObject({ completed: true, counters: { toolCalls: 8 } });
      expect(finishedOf(ended).every(({ content }) => '$blob' in content)).toBe(true);
    },
  );

  test('ten megabytes of an effect are kept whole, by reference, and it happened once', async () => {
    const replies = [call('odd.pay', { how: 'ten_megabytes' }), say('Finished.')];
    const ended = await play({ runId: 'pays-ten-megabytes', replies });
    expect(ended.result).toMatchObject({ completed: true, counters: { toolAttempts: 1 } });
    expect(finishedOf(ended)).toMatchObject([{ status: 'ok', content: { bytes: 10 * MEGABYTE } }]);
  });
});

describe('what a model proposes', () => {
  test('one argument of three megabytes goes to the tool whole, and to people by reference', async () => {
    const note = 'n'.repeat(3 * MEGABYTE);
    const run = await world.start({
      runId: 'large-argument',
      replies: [
        { calls: [{ tool: 'any.pay', input: { note, amount: 5 } }], usage: USAGE },
        say('Finished.'),
      ],
    });
    const ask = await openAsk(run);
    expect(ask.args).toMatchObject({ amount: 5, note: { bytes: 3 * MEGABYTE } });
    await run.approve(ask.askId, APPROVER);
    const ended = await world.ended(run);
    expect(Math.max(...payloadBytes(ended.history))).toBeLessThanOrEqual(PAYLOAD_BYTES_MAX);
    expect(finishedOf(ended)).toMatchObject([{ status: 'ok' }]);
    expect(JSON.stringify(finishedOf(ended))).toContain(`chars\\":${3 * MEGABYTE + 22}`);
    expect(world.service.visits('large-argument', 'effect')).toHaveLength(1);
  });

  const many = (count: number, chars: number): Json =>
    Object.fromEntries(Array.from({ length: count }, (_, n) => [`name${n}`, 'v'.repeat(chars)]));

  test.concurrent.each<[string, string, string]>([
    ['three megabytes of small values', JSON.stringify(many(3_000, 1_000)), 'too large'],
    ['three megabytes of long texts', JSON.stringify(many(1_500, 2_100)), 'too large'],
    [
      'a nesting of 10,000',
      `{"a":${'['.repeat(10_000)}${']'.repeat(10_000)}}`,
      'deeper than 100 levels',
    ],
    ['a nesting of 90', `{"a":${'['.repeat(90)}${']'.repeat(90)}}`, 'levels deep'],
    ['NaN', '{"amount":NaN}', 'not one JSON'],
    ['a number beyond all limits', '{"amount":1e999}', 'not finite'],
    ['an integer that is not exact', '{"amount":9007199254740993}', 'too large to be exact'],
    ['a name that is no Unicode', '{"\\ud800":1}', 'Unicode'],
    ['what looks like a reference', '{"note":{"$blob":"x","bytes":3}}', 'reference'],
  ])('%s: the call is refused, the model is told why, the run goes on', async (title, raw, why) => {
    const ended = await proposing(
      `proposes ${title}`.replaceAll(/[^a-z0-9]/gi, '-'),
      'any.read',
      raw,
    );
    expect(ended.result).toMatchObject({ completed: true, counters: { toolCalls: 0 } });
    expect(finishedOf(ended)).toMatchObject([{ status: 'error', code: 'invalid_arguments' }]);
    expect(JSON.stringify(finishedOf(ended))).toContain(why);
  });

  test.concurrent('unpaired surrogates in a text become valid text', async () => {
    const ended = await proposing('proposes-surrogates', 'any.read', '{"text":"a\\ud800b"}');
    expect(finishedOf(ended)).toMatchObject([{ status: 'ok' }]);
    expect(ofType(ended.events, 'tool_started')[0]?.args).toEqual({ text: 'a\ufffdb' });
  });

  test.concurrent(
    'a prototype among the arguments is left out by the schema, and reaches no other object',
    async () => {
      const raw = '{"__proto__":{"polluted":true},"constructor":{"prototype":{"polluted":true}}}';
      const ended = await proposing('proposes-prototypes', 'any.read', raw);
      const text = '{"names":["constructor"],"chars":47,"inherited":false}';
      expect(finishedOf(ended)).toMatchObject([{ status: 'ok', content: { text } }]);
      expect({}).not.toHaveProperty('polluted');
    },
  );

  test.concurrent('many calls of large arguments share the room of one reply', async () => {
    const input = { note: 'x'.repeat(2_000), more: 'y'.repeat(2_000) };
    const calls = new Array(30).fill({ tool: 'any.read', input });
    const ended = await play({
      runId: 'many-large-calls',
      replies: [{ calls }, say('Finished.')],
      budget: { maxInvalidProposals: 'unlimited' },
    });
    const statuses = finishedOf(ended).map(({ status }) => status);
    expect(statuses).toContain('ok');
    expect(statuses).toContain('error');
    expect(statuses).toHaveLength(30);
  });
});

describe('what people send', () => {
  test('the largest messages together are stored apart from the request', async () => {
    const reached = world.service.hold('chatty', 'read');
    const run = await world.start({
      runId: 'chatty',
      replies: [call('facts.read', { item: 'lamp' }), say('Finished.')],
    });
    await reached;
    for (const id of ['m1', 'm2']) await run.sendMessage(`${id}${'€'.repeat(8_000)}`, id);
    world.service.releaseAll();
    const ended = await world.ended(run);
    expect(Math.max(...payloadBytes(ended.history))).toBeLessThanOrEqual(PAYLOAD_BYTES_MAX);
    expect(ofType(ended.events, 'user_message')).toHaveLength(2);
    const body = world.requests('chatty').at(-1)?.body ?? '';
    expect(body.indexOf('m1€')).toBeGreaterThan(0);
    expect(body.indexOf('m2€')).toBeGreaterThan(body.indexOf('m1€'));
  });

  test('megabytes by signal are a warning, and the question stays open', async () => {
    const run = await world.start({
      runId: 'megabytes-by-signal',
      replies: [{ calls: [{ tool: 'any.pay', input: { amount: 5 } }] }, say('Finished.')],
    });
    const ask = await openAsk(run);
    const handle = world.raw.workflow.getHandle(run.runId);
    const large = 'x'.repeat(1.5 * MEGABYTE);
    await handle.signal('userMessage', { text: large });
    await handle.signal('provideInput', { askId: ask.askId, value: large, by: 'eve' });
    await handle.signal('resolveApproval', {
      v: 1,
      askId: ask.askId,
      argsHash: ask.argsHash,
      decision: 'modify',
      args: { note: large },
      decidedAt: Date.now(),
      ...APPROVER,
    });
    await run.approve(ask.askId, APPROVER);
    const { result, events } = await world.ended(run);
    expect(result.completed).toBe(true);
    expect(warnings(events).toSorted()).toEqual([
      'rejected_provideInput',
      'rejected_resolveApproval',
      'rejected_userMessage',
    ]);
  });
});

describe('all of these runs', () => {
  test('replay', async () => {
    const runIds = ['large-argument', 'many-large-calls', 'controls', 'chatty', 'returns-deep'];
    expect([...(await replayRuns(world.place, runIds))]).toEqual([]);
  });
});
