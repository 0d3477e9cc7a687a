import { chosenRuns } from '../../lab/proving/chosen-runs';
import { planKill } from '../../lab/proving/kill-plan';
import { inventedTools, playedRun, type PlayedRun } from '../../lab/proving/played-run';
import { CRASH_BOUNDARIES } from '../../testing/index';
import { differenceFrom, recordedReply } from '../../lab/proving/recorded-model';
import { parseRecording } from '../../lab/proving/recording';
import { RETAIL } from '../../lab/proving/retail/tools';
import { playable } from './playable';

interface Call {
  readonly id: string;
  readonly name: string;
  readonly arguments: object;
}
const user = (content: string) => ({ role: 'user', content });
const said = (content: string) => ({ role: 'assistant', content });
const called = (...calls: readonly Call[]) => ({
  role: 'assistant',
  content: null,
  tool_calls: calls,
});
const tool = (id: string, content: string, error = false) => ({ role: 'tool', id, content, error });
const CANCEL = { id: 'a.1', name: 'cancel_pending_order', arguments: { order_id: '#W1' } };
const LOOK = { id: 'a_1', name: 'get_order_details', arguments: { order_id: '#W1' } };

const recorded = (messages: readonly object[]) =>
  parseRecording({ simulations: [{ task_id: '1', trial: 0, messages }] }).runs[0]!;

const play = (...messages: readonly object[]): PlayedRun => playable(recorded(messages), RETAIL);

test('a run is played from the first words of the customer to the last answered ones', () => {
  const run = play(
    said('Hi'),
    user('cancel it'),
    said('Sure?'),
    user('yes'),
    said('Done'),
    user('bye'),
  );
  expect(run.exchanges).toEqual([
    { userText: 'cancel it', replies: [{ text: 'Sure?', calls: [] }] },
    { userText: 'yes', replies: [{ text: 'Done', calls: [] }] },
  ]);
});

test('calls keep their order, get ids that providers allow, and know their answer and consent', () => {
  const run = play(
    user('yes, do it'),
    called(CANCEL, LOOK),
    tool('a.1', 'Error: Order not found', true),
    tool('a_1', '{}'),
    said('Done'),
  );
  expect([...run.calls.values()]).toMatchObject([
    { id: 'a_1', name: CANCEL.name, error: true, writes: true, consented: true },
    { id: 'a_1_1', name: LOOK.name, error: false, writes: false },
  ]);
});

test('an end without words gets some, so that the run waits for its user there', () => {
  const run = play(user('a person, please'), called(LOOK), tool('a_1', 'ok'));
  expect(run.replies.map((reply) => reply.text)).toEqual([
    undefined,
    '(nothing was recorded here)',
  ]);
  const unanswered = play(user('look'), called(LOOK));
  expect(unanswered.calls.size).toBe(0);
});

test('words before a call of the same turn are said with the call', () => {
  const run = play(user('look'), said('One moment'), called(LOOK), tool('a_1', 'ok'), said('Done'));
  expect(run.replies.map((reply) => [reply.text, reply.calls.length])).toEqual([
    ['One moment', 1],
    ['Done', 0],
  ]);
});

test.each([
  ['nobody answers', [said('Hi'), user('hello?')], 'nobody answered the customer'],
  [
    'a text is longer than a run takes',
    [user('go'), said('Yes?'), user('x'.repeat(16_385)), said('No.')],
    'a text of the customer has 16385 characters, and a run takes 16384 in one message',
  ],
])('a run in which %s is not played, and says why', (_what, messages, unplayable) => {
  expect(playedRun(recorded(messages), RETAIL)).toEqual({ id: expect.any(String), unplayable });
});

test('runs that cannot be played are left out and named, unless no other is wanted', () => {
  const simulation = (id: string, text: string) => ({
    task_id: id,
    trial: 0,
    messages: [user(text), said('Done')],
  });
  const runs = [simulation('long', 'x'.repeat(20_000)), simulation('short', 'go')];
  const lines: string[] = [];
  const choice = {
    domain: RETAIL,
    recording: parseRecording({ simulations: runs }),
    say: (line: string) => lines.push(line),
  };
  const chosen = chosenRuns(choice);
  expect(chosen.map(({ id }) => id)).toEqual(['task-short-trial-0']);
  expect(lines).toEqual([expect.stringMatching(/^left out task-long-trial-0: a text .* 20000/)]);
  // Who names another one does not hear of it; who names this one hears why not.
  lines.length = 0;
  chosenRuns({ ...choice, choose: ({ id }) => id === chosen[0]?.id });
  expect(lines).toEqual([]);
  expect(() => chosenRuns({ ...choice, choose: ({ id }) => id.includes('long') })).toThrow(
    /no such run to play. Run task-long-trial-0: a text of the customer has 20000/,
  );
});

test('half of a character is played as the request that carries it', () => {
  const messages = [user('a \uD800'), said('b \uDFFF'), user('c'), said('d')];
  expect(play(...messages).exchanges[0]).toEqual({
    userText: 'a \uFFFD',
    replies: [{ text: 'b \uFFFD', calls: [] }],
  });
});

test('an invented tool is offered, a tool of another domain is refused', () => {
  const calling = (error: boolean, name = 'fly') =>
    play(user('go'), called({ ...LOOK, name }), tool('a_1', 'text', error), said('Done'));
  expect(inventedTools([calling(true), calling(true, 'fly to')], RETAIL)).toEqual([
    { name: 'fly', recordedName: 'fly' },
    { name: 'invented_fly_to', recordedName: 'fly to' },
  ]);
  expect(() => inventedTools([calling(false)], RETAIL)).toThrow('retail does not have: fly');
});

test('a request that is not the recorded conversation is noticed', () => {
  const run = play(user('look'), called(LOOK), tool('a_1', 'recorded'), said('Done'));
  expect(recordedReply(run, 0)).toMatchObject({ calls: [{ id: 'a_1', tool: LOOK.name }] });
  expect(recordedReply(run, 2)).toBeUndefined();
  const sent = (content: string, is_error: boolean) => [
    { role: 'user', content: [{ type: 'text', text: 'look' }] },
    {
      role: 'assistant',
      content: [{ type: 'tool_use', id: 'a_1', name: LOOK.name, input: LOOK.arguments }],
    },
    { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'a_1', content, is_error }] },
  ];
  expect(differenceFrom(run, 1, sent('recorded', false))).toBeUndefined();
  expect(differenceFrom(run, 1, sent('other', false))).toContain('message 2');
  expect(differenceFrom(run, 1, sent('recorded', true))).toContain('message 2');
  expect(differenceFrom(run, 1, sent('recorded', false).slice(0, 2))).toContain('missing');
  expect(differenceFrom(run, 0, sent('recorded', false))).toContain('recorded was missing');
});

test('kills are the same for the same seed, and fall on points that the run has', () => {
  const run = play(user('look'), called(LOOK), tool('a_1', 'ok'), said('Done'));
  const plans = Array.from({ length: 200 }, (_, seed) => planKill(seed, run));
  expect(plans).toEqual(Array.from({ length: 200 }, (_, seed) => planKill(seed, run)));
  const moments = plans.flatMap((plan) => (plan.kind === 'moment' ? [plan] : []));
  expect(new Set(moments.map(({ at }) => at))).toEqual(new Set(['model', 'read']));
  expect(new Set(moments.map(({ when }) => when))).toEqual(new Set(['before', 'after', 'around']));
  expect(moments.every(({ at, nth }) => nth < (at === 'model' ? 2 : 1))).toBe(true);
  const exact = plans.flatMap((plan) => (plan.kind === 'boundary' ? [plan] : []));
  // It has no write, so nothing is ever claimed.
  const possible = CRASH_BOUNDARIES.filter((boundary) => !/claim|effect|record/.test(boundary));
  expect(new Set(exact.map(({ boundary }) => boundary))).toEqual(new Set(possible));
});
