/** The timeline of a run: its events as steps that people can follow. */
import type { RunEvent } from '../../../core/state/event.js';
import { liveEvents, RunRecord } from '../../../console/page/run/run-record.js';
import { Spoken } from '../../../console/page/run/spoken.js';
import { Story } from '../../../console/page/run/story.js';
import { warningText } from '../../../console/page/run/story-words.js';
import { scaleOf } from '../../../console/page/run/time-scale.js';
import type { StreamChunk } from '../../../pure/stream.js';

let seq = 0;
beforeEach(() => {
  seq = 0;
});

/** An event of its number's second. */
function event(body: object): RunEvent {
  const stamp = { seq, runId: 'r', traceId: 't', at: seq * 1_000, phase: 'x', step: 0, turn: 0 };
  seq += 1;
  return { ...body, stamp } as unknown as RunEvent;
}

const started = (callId: string) => event({ type: 'tool_started', callId, tool: 'mail', args: {} });
const finished = (callId: string, more: object = {}) =>
  event({
    type: 'tool_finished',
    callId,
    tool: 'mail',
    status: 'ok',
    content: { text: 'x' },
    started: true,
    attempts: 1,
    ...more,
  });

test('a step keeps its place and is completed by the event that ends it; other steps are the same objects', () => {
  const story = new Story();
  story.take(started('one'));
  story.take(started('two'));
  const [one, two] = story.steps;
  expect([one?.to, two?.to]).toEqual([undefined, undefined]);
  story.take(finished('one', { attempts: 3, costMicroUsd: 5 }));
  expect(story.costMicroUsd).toBe(5);
  expect(story.steps).toMatchObject([
    { id: '0', tone: 'tool', from: 0, to: 2_000, outcome: 'ok', detail: '3 attempts' },
    { id: '1', to: undefined },
  ]);
  expect(story.steps[0]).not.toBe(one);
  expect(story.steps[1]).toBe(two);
  expect(story.toolCalls).toBe(1);
});

test('what was never begun is a step of its own: a refused call, and one by a standing grant', () => {
  const story = new Story();
  story.take(finished('one', { status: 'error', code: 'denied', started: false }));
  const grant = { reason: 'grant:1', by: ['rita'], outcome: 'approved', tool: 'mail', askId: 'a' };
  story.take(event({ type: 'approval_resolved', ...grant }));
  story.take(event({ type: 'approval_resolved', ...grant, reason: 'other' }));
  expect(story.steps).toMatchObject([
    { tone: 'trouble', title: 'mail was not run', detail: 'denied' },
    { tone: 'note', title: 'mail goes ahead by a standing grant', detail: 'given by rita' },
  ]);
});

test('a wait ends with who ended it, and fails when it was refused', () => {
  const story = new Story();
  story.take(event({ type: 'approval_requested', askId: 'a', kind: 'approval', tool: 'mail' }));
  const resolved = { type: 'approval_resolved', askId: 'a', by: ['rita'], grant: { uses: 2 } };
  story.take(event({ ...resolved, outcome: 'rejected' }));
  expect(story.steps).toMatchObject([
    {
      tone: 'wait',
      title: 'Waits for approval of mail',
      detail: 'rejected by rita, and up to 2 more like it',
      outcome: 'error',
    },
  ]);
});

test('after a reset the record is as if what came later had not happened', () => {
  const record = new RunRecord();
  const first = started('one');
  for (const one of [first, finished('one'), started('two')]) record.take(one);
  record.reset(1);
  expect(record.events).toEqual([first]);
  expect(record.story.steps).toMatchObject([{ id: '0', to: undefined }]);
  expect(record.story.toolCalls).toBe(0);
});

test('times have places in their order, and a night is drawn shorter than it was', () => {
  const story = new Story();
  story.take(started('one'));
  story.take(finished('one'));
  const night = { ...finished('two'), stamp: { ...finished('x').stamp, at: 40_000_000 } };
  story.take(night);
  const placeOf = scaleOf(story.steps, 0);
  expect(placeOf(0)).toBe(0);
  expect(placeOf(40_000_000)).toBe(1);
  expect(placeOf(1_000)).toBeGreaterThan(0.01);
});

test('what the model says is there until its event comes, and what is late of it is not shown', () => {
  const spoken = new Spoken();
  const chunk = (messageId: string, kind: string, text = '') =>
    ({ messageId, kind, delta: { type: 'text', text } }) as unknown as StreamChunk;
  spoken.hear(chunk('m1', 'delta', 'We '));
  spoken.hear(chunk('m1', 'attempt_reset'));
  spoken.hear(chunk('m1', 'delta', 'They '));
  spoken.hear(chunk('m1', 'gap'));
  expect(spoken.text).toBe('They …');
  spoken.tell(event({ type: 'model_response', messageId: 'm1' }));
  spoken.hear(chunk('m1', 'delta', 'late'));
  expect(spoken.text).toBe('');
  spoken.hear(chunk('m2', 'delta', 'Next'));
  expect(spoken.text).toBe('Next');
});

describe('a message that a tombstone takes back', () => {
  const said = (messageId: string) =>
    event({ type: 'model_response', messageId, calls: [], costMicroUsd: 5, text: { text: 'No.' } });
  const taken = (targetMessageId: string) =>
    event({ type: 'tombstone', targetMessageId, reason: 'refusal' });

  test('keeps its step and its cost on the timeline, and shows its words no more', () => {
    const story = new Story();
    for (const one of [said('m1'), said('m2'), taken('m1')]) story.take(one);
    expect(story.steps).toMatchObject([
      { title: 'A reply was taken back', detail: 'refusal', takenBack: true },
      { title: 'The model answers' },
    ]);
    expect(story.steps[1]?.takenBack).toBeUndefined();
    expect(story.costMicroUsd).toBe(10);
  });

  test('of which no reply is known is a note of its own', () => {
    const story = new Story();
    story.take(taken('m1'));
    expect(story.steps).toMatchObject([{ tone: 'note', title: 'A reply was taken back' }]);
  });

  test('is no part of the conversation as the events tell it', () => {
    const [first, second] = [said('m1'), said('m2')];
    expect(liveEvents([first, taken('m1'), second]).filter(isReply)).toEqual([second]);
  });

  test('is not spoken any more, nor what comes late of it', () => {
    const spoken = new Spoken();
    const chunk = { messageId: 'm1', kind: 'delta', delta: { type: 'text', text: 'Half a ' } };
    spoken.hear(chunk as unknown as StreamChunk);
    spoken.tell(taken('m1'));
    expect(spoken.text).toBe('');
    spoken.hear(chunk as unknown as StreamChunk);
    expect(spoken.text).toBe('');
  });

  function isReply({ type }: RunEvent): boolean {
    return type === 'model_response';
  }
});

test('money of a warning is told in dollars', () => {
  const told = (code: string, message: string) =>
    warningText(event({ type: 'warning', code, message }) as never);
  const billed = 'the model call was billed with 1015929 micro-USD, its bound was 20000';
  expect(told('billed_above_bound', billed)).toBe(
    'the model call was billed with $1.02, its bound was $0.02',
  );
  expect(told('other', 'called 12345 times')).toBe('called 12345 times');
});
