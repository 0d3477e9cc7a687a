import { ActivityCancellationDetails } from '@temporalio/common';
import { setTimeout as sleep } from 'node:timers/promises';
import { defineHook, type Hook, type HookDefinition } from '../../authoring/index.js';
import type { RunHooksInput, RunHooksOutput } from '../../core/state/effect.js';
import type { HookPoint } from '../../core/state/hook.js';
import type { Json } from '../../core/json/json.js';
import {
  attempt,
  effect,
  environmentOf,
  failureFrom,
  RUN,
  sessionEvent,
  startBed,
  type Bed,
  type EffectInfo,
} from './setup.js';

const SHUTDOWN = new ActivityCancellationDetails({ workerShutdown: true });

let bed: Bed;
beforeAll(async () => {
  bed = await startBed();
});
afterAll(() => bed.end());

function guard(run: HookDefinition<'PreToolUse'>['run'], name = 'guard', timeoutMs = 2_000): Hook {
  return defineHook({ name, point: 'PreToolUse', timeoutMs, run });
}

const CALL = { tool_name: 'pay', tool_input: { amount: 3 }, call_id: 'a' };

function inputFor(hooks: readonly Hook[], changes: Partial<RunHooksInput> = {}): RunHooksInput {
  const point: HookPoint = hooks[0]?.point ?? 'PreToolUse';
  return {
    v: 1,
    run: RUN,
    point,
    hooks: hooks.map((hook) => hook.name),
    payload: CALL,
    timeoutMs: 5_000,
    events: [],
    ...changes,
  };
}

function activityWith(hooks: readonly Hook[], clock = Date.now) {
  const config = { ...bed.config, hooks: new Map(hooks.map((hook) => [hook.name, hook])) };
  return bed.activities({ config, clock }).run_hooks;
}

async function ask(
  hooks: readonly Hook[],
  changes: Partial<RunHooksInput> = {},
  info: EffectInfo = effect(),
) {
  return attempt(activityWith(hooks), inputFor(hooks, changes), info);
}

/** What a hook of this point is taken to have said. */
async function said(point: HookPoint, returned: unknown) {
  const hook = defineHook({ name: 'h', point, run: () => returned as never });
  const { outcomes } = await ask([hook], { payload: {} });
  return outcomes[0];
}

describe('run_hooks', () => {
  test('asks the hooks of a point in their order and stores the events it brought', async () => {
    const order: string[] = [];
    const hooks = ['one', 'two'].map((name) =>
      guard((input, ctx) => {
        order.push(`${name} ${input.tool_name} ${ctx.runId} ${ctx.signal.aborted}`);
        return { decision: 'allow' };
      }, name),
    );
    const output = await ask(hooks, { events: [sessionEvent()] });
    expect(output.eventsUpTo).toBe(1);
    expect(order).toEqual(['one pay run_1 false', 'two pay run_1 false']);
    expect(output.outcomes).toMatchObject([
      { hook: 'one', opinion: { decision: 'allow' } },
      { hook: 'two', opinion: { decision: 'allow' } },
    ]);
  });

  test('the first denial ends the chain', async () => {
    const never = jest.fn();
    const { outcomes } = await ask([
      guard(() => ({ decision: 'deny', message: 'no' })),
      guard(never, 'late'),
    ]);
    expect(outcomes).toMatchObject([{ opinion: { decision: 'deny', message: 'no' } }]);
    expect(never).not.toHaveBeenCalled();
  });

  test('each hook sees the input as the one before left it; only the last change is reported', async () => {
    const seen: Json[] = [];
    const plusOne = (input: { readonly tool_input: Json }) => {
      seen.push(input.tool_input);
      const { amount } = input.tool_input as { amount: number };
      return { updatedInput: { amount: amount + 1 } };
    };
    const { outcomes } = await ask([
      guard(plusOne, 'one'),
      guard(plusOne, 'two'),
      guard(() => null, 'three'),
    ]);
    expect(seen).toEqual([{ amount: 3 }, { amount: 4 }]);
    expect(outcomes.map((outcome) => outcome.opinion)).toEqual([
      {},
      { updatedInput: { amount: 5 } },
      {},
    ]);
  });

  test('a hook cannot change what the next one is told but by its word', async () => {
    const seen: Json[] = [];
    const hooks = ['one', 'two'].map((name) =>
      guard((input) => {
        seen.push(structuredClone(input.tool_input));
        (input.tool_input as { amount: number }).amount = 99;
      }, name),
    );
    await ask(hooks);
    expect(seen).toEqual([{ amount: 3 }, { amount: 3 }]);
  });

  test('hooks are told whole texts and may answer with long ones', async () => {
    const long = 'x'.repeat(5_000);
    const { args } = await bed.store.spillArguments('default', { note: long });
    let told: Json = null;
    const { outcomes } = await ask(
      [
        guard((input) => {
          told = input.tool_input;
          return { updatedInput: { note: `${long}y` } };
        }),
      ],
      { payload: { ...CALL, tool_input: args } },
    );
    expect(told).toEqual({ note: long });
    const updated = outcomes[0]?.opinion.updatedInput;
    expect(updated).toMatchObject({ note: { bytes: 5_001 } });
    expect(await bed.store.restoreArguments('default', updated!)).toEqual({ note: `${long}y` });
  });

  test.each<[string, HookDefinition<'PreToolUse'>['run'], RegExp]>([
    ['throws', () => Promise.reject(new Error('no database')), /no database/],
    [
      'throws at once',
      () => {
        throw new TypeError('oops');
      },
      /oops/,
    ],
    ['throws no error', () => Promise.reject('odd'), /odd/],
    ['hangs', () => sleep(60_000, undefined, { ref: false }), /did not answer within 50 ms/],
    ['says nonsense', () => ({ decision: 'maybe' }) as never, /may not say that: decision/],
    [
      'says what is none of its business',
      () => ({ blockingErrors: ['x'] }) as never,
      /may not say/,
    ],
    ['says too much', () => ({ message: 'x'.repeat(2_001) }), /message/],
    ['returns no JSON', () => ({ updatedInput: { at: new Date() } }) as never, /updatedInput/],
    [
      'names a stored text',
      () => ({ updatedInput: { $blob: 'f'.repeat(64), bytes: 9 } }),
      /reference/,
    ],
    ['returns a huge number', () => ({ updatedInput: { n: 2 ** 60 } }), /too large to be exact/],
    ['returns too much input', () => ({ updatedInput: Array(9_000).fill(1) }), /too large/],
  ])('a hook that %s is an outcome, no failure', async (_, run, message) => {
    const next = jest.fn();
    const { outcomes } = await ask([guard(run, 'bad', 50), guard(next, 'next')]);
    expect(outcomes).toEqual([
      {
        hook: 'bad',
        opinion: {},
        error: expect.stringMatching(message),
        durationMs: expect.any(Number),
      },
    ]);
    // A gate that cannot be asked denies, so that nobody is asked after it.
    expect(next).not.toHaveBeenCalled();
  });

  test('at other points an error keeps nobody else from being asked', async () => {
    const hooks = [
      defineHook({ name: 'bad', point: 'SessionEnd', run: () => Promise.reject(new Error('x')) }),
      defineHook({ name: 'good', point: 'SessionEnd', run: () => undefined }),
    ];
    const { outcomes } = await ask(hooks, { payload: { reason: 'completed' } });
    expect(outcomes).toMatchObject([{ error: 'x' }, { hook: 'good', opinion: {} }]);
  });

  test('a hook that this worker does not have, or has at another point, is an error', async () => {
    const elsewhere = defineHook({ name: 'guard', point: 'Stop', run: () => null });
    const { outcomes } = await attempt(activityWith([elsewhere]), {
      ...inputFor([]),
      hooks: ['guard'],
    });
    expect(outcomes).toMatchObject([{ error: 'this worker does not have it' }]);
  });

  test('all hooks together keep the time of their point', async () => {
    let at = 1;
    const slow = defineHook({
      name: 'slow',
      point: 'Stop',
      run() {
        at += 60;
        return new Promise<never>(() => undefined);
      },
    });
    const next = defineHook({ name: 'next', point: 'Stop', run: () => null });
    const input = inputFor([slow, next], { payload: {}, timeoutMs: 60 });
    const { outcomes } = await attempt(
      activityWith([slow, next], () => at),
      input,
    );
    expect(outcomes).toMatchObject([
      { error: expect.stringContaining('within 60 ms') },
      { error: expect.stringContaining('used up the time') },
    ]);
  });

  test.each<[HookPoint, object]>([
    ['SessionStart', { additionalContext: 'closed' }],
    ['PostSampling', { systemMessages: ['a'] }],
    ['Stop', { blockingErrors: ['a'], preventContinuation: true, message: 'm' }],
    ['PostToolUse', {}],
  ])('%s may say what belongs to it', async (point, opinion) => {
    expect(await said(point, opinion)).toMatchObject({ opinion });
  });

  test.each<[HookPoint, object]>([
    ['SessionStart', { decision: 'allow' }],
    ['PostToolUse', { decision: 'deny' }],
    ['PostSampling', { decision: 'deny' }],
    ['Stop', { blockingErrors: Array(21).fill('x') }],
    ['SessionStart', { additionalContext: 'x'.repeat(8_193) }],
  ])('%s may not say anything else, nor too much', async (point, opinion) => {
    expect(await said(point, opinion)).toMatchObject({ opinion: {}, error: expect.any(String) });
  });

  test('a redelivery asks only the hooks that had not answered', async () => {
    const info = effect();
    const keys: string[] = [];
    let die = true;
    const hooks = [
      guard((_, ctx) => void keys.push(`one ${ctx.idempotencyKey}`), 'one'),
      guard(async (_, ctx) => {
        keys.push(`two ${ctx.idempotencyKey}`);
        if (!die) return;
        const cutOff = new Promise((_, reject) => ctx.signal.addEventListener('abort', reject));
        environment.cancel('WORKER_SHUTDOWN', SHUTDOWN);
        await cutOff;
      }, 'two'),
    ];
    const environment = environmentOf(info);
    const first = environment.run(activityWith(hooks), inputFor(hooks));
    expect(await failureFrom(first)).toMatchObject({ type: 'Aborted', nonRetryable: false });
    die = false;
    const { outcomes } = await ask(hooks, {}, info);
    expect(outcomes.map((outcome) => outcome.hook)).toEqual(['one', 'two']);
    expect(keys.map((key) => key.split(' ')[0])).toEqual(['one', 'two', 'two']);
    expect(keys[1]).toBe(keys[2]);
    await ask(hooks, {}, info);
    expect(keys).toHaveLength(3);
  });

  test('an interrupt aborts the hook and is an outcome', async () => {
    let aborted = false;
    const hook = guard(
      async (_, { signal }) => {
        const slept = sleep(60_000, undefined, { signal }).catch(() => (aborted = true));
        environment.cancel();
        await slept;
        return { decision: 'allow' };
      },
      'slow',
      60_000,
    );
    const environment = environmentOf(effect());
    const running = environment.run(activityWith([hook]), inputFor([hook], { timeoutMs: 60_000 }));
    const { outcomes } = (await running) as RunHooksOutput;
    expect(aborted).toBe(true);
    expect(outcomes).toHaveLength(1);
  });
});
