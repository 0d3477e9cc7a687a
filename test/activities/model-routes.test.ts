/** Which model is asked, and what another one's words look like to it. */
import type { ActivityDeps } from '../../activities/index.js';
import type { ScriptedAnswer } from '../../providers/scripted/script.js';
import { routeHash } from '../../core/step/route.js';
import { resolveRoute } from '../../providers/routes.js';
import {
  attempt,
  effect,
  failureFrom,
  modelInput,
  openedHead,
  RUN,
  sessionEvent,
  startBed,
  type Bed,
} from './setup.js';

const OK: ScriptedAnswer = { text: 'Done.', usage: { input: 100, output: 10 } };
const OVERLOADED: ScriptedAnswer = { status: 529, errorType: 'overloaded_error' };
const CUT: ScriptedAnswer = {
  text: 'word '.repeat(20),
  chunks: 20,
  errorEventAfterChunks: 10,
  errorType: 'overloaded_error',
};

describe('a model call whose retries are used up', () => {
  let bed: Bed;
  afterEach(() => bed.end());

  async function failing(reply: ScriptedAnswer) {
    bed = await startBed({ replies: [reply] });
    const input = modelInput(await openedHead(bed), { maxRetries: { serverError: 0, other: 0 } });
    return failureFrom(attempt(bed.activities().call_model, input));
  }

  test('says that part of a reply had arrived', async () => {
    const failure = await failing(CUT);
    expect(failure).toMatchObject({ type: 'Overloaded', nonRetryable: true });
    expect(failure.details?.[0]).toMatchObject({ partial: true });
  });

  test('says so too when a later attempt brought nothing', async () => {
    bed = await startBed({ replies: [[CUT, OVERLOADED]] });
    const input = modelInput(await openedHead(bed), { maxRetries: { serverError: 0, other: 1 } });
    const info = effect();
    await failureFrom(attempt(bed.activities().call_model, input, info));
    const last = await failureFrom(attempt(bed.activities().call_model, input, info));
    expect(last.details?.[0]).toMatchObject({ partial: true, attempts: 2 });
  });

  test('says that nothing had arrived', async () => {
    const failure = await failing(OVERLOADED);
    expect(failure.details?.[0]).toMatchObject({ partial: false, lostCostMicroUsd: 0 });
  });
});

describe('another model in the same conversation', () => {
  let bed: Bed;
  afterEach(() => bed.end());

  const thinking: ScriptedAnswer = { thinking: 'Let me see', text: 'Half.' };

  async function secondRequest(model: string): Promise<string> {
    bed = await startBed({ replies: [thinking, OK] });
    const { call_model } = bed.activities();
    const first = await attempt(call_model, modelInput(await openedHead(bed)));
    const more = { kind: 'user', messageId: 'run_1:m2', content: { text: 'Go on.' } } as const;
    const second = { call: 2, append: [more], replyMessageId: 'run_1:m3' };
    // Asked under the first model as well, so that what is remembered of a message is its own affair.
    await attempt(call_model, modelInput(first.head, second));
    await attempt(
      call_model,
      modelInput(first.head, { ...second, call: 3, route: resolveRoute(model) }),
    );
    return bed.model.requests().at(-1)?.body ?? '';
  }

  test('does not get the thinking of the first', async () => {
    const body = await secondRequest('scripted/spare');
    expect(body).toContain('"model":"spare"');
    expect(body).toContain('Half.');
    expect(body).not.toContain('Let me see');
  });

  test('the same model gets it back', async () => {
    expect(await secondRequest('scripted/test')).toContain('Let me see');
  });
});

test('a refusal names the conversation without it', async () => {
  const bed = await startBed({ replies: [{ text: 'I would rather', stopReason: 'refusal' }] });
  const output = await attempt(bed.activities().call_model, modelInput(await openedHead(bed)));
  const [before, after] = await Promise.all(
    [output.headBefore!, output.head].map((head) => bed.store.readChain('default', head)),
  );
  expect(output.reply.stop).toBe('refusal');
  expect(before?.at(-1)?.role).toBe('user');
  expect(after?.slice(0, before?.length)).toEqual(before);
  await bed.end();
});

describe('open_run', () => {
  let bed: Bed;
  beforeAll(async () => {
    bed = await startBed();
  });
  afterAll(() => bed.end());

  const open = (fallbackModel: string) =>
    attempt(bed.activities().open_run, {
      v: 1,
      run: RUN,
      segment: 0,
      start: { v: 1, agent: 'helper', task: { goal: 'Do it.' }, settings: { fallbackModel } },
      events: [],
    });

  test('freezes the route of the fallback with its prices', async () => {
    const { frozen } = await open('scripted/spare');
    expect(frozen?.fallback).toEqual(resolveRoute('scripted/spare'));
    expect(frozen?.versions['fallback']).toBe(routeHash(resolveRoute('scripted/spare')));
  });

  test('refuses a fallback that it does not know, before anything runs', async () => {
    expect(await failureFrom(open('nobody/knows'))).toMatchObject({
      type: 'UnknownModel',
      nonRetryable: true,
    });
  });
});

describe('resolve_model', () => {
  let bed: Bed;
  beforeAll(async () => {
    bed = await startBed();
  });
  afterAll(() => bed.end());

  const resolve = (model: string, changes: Partial<ActivityDeps> = {}) =>
    attempt(bed.activities(changes).resolve_model, {
      v: 1,
      run: RUN,
      model,
      events: [sessionEvent()],
    });

  test('gives the route, and stores its events', async () => {
    expect(await resolve('scripted/other')).toEqual({
      resolved: { ok: true, route: resolveRoute('scripted/other') },
      eventsUpTo: 1,
    });
  });

  test('answers that a model is not known, naming it', async () => {
    const { resolved } = await resolve('nobody/knows');
    expect(resolved).toMatchObject({ ok: false, reason: expect.stringContaining('nobody/knows') });
  });

  test('answers that this worker cannot reach a model', async () => {
    const { resolved } = await resolve('scripted/other', { providers: new Map() });
    expect(resolved).toMatchObject({ ok: false, reason: expect.stringContaining('anthropic') });
  });
});
