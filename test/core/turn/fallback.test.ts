import { NO_USAGE } from '../../../core/state/model.js';
import {
  call,
  calls,
  exhaustedBy as exhausted,
  failure,
  says,
  usage,
  type Script,
} from '../script.js';
import {
  createShell,
  crossSegment,
  finish,
  ofType,
  requestsOf,
  send,
  settle,
  started,
  tick,
  transitionsOf,
  until,
  type Shell,
} from '../shell.js';
import { lettersOf } from '../transcript.js';

const CHEAP = { input: 1_000_000, output: 2_000_000, cacheRead: 0, cacheWrite: 0 };
const SPARE = 'scripted/spare';

function withSpare(model: Script['model'], more: Partial<Script> = {}): Shell {
  const { settings, ...rest } = more;
  return createShell({
    routes: { [SPARE]: { prices: CHEAP } },
    model,
    ...rest,
    settings: { fallbackModel: SPARE, ...settings },
  });
}

function modelsOf(shell: Shell): readonly string[] {
  return requestsOf(shell).map(({ route }) => route.model);
}

describe('a model whose retries are used up', () => {
  test.each(['RateLimited', 'Overloaded', 'ServerError'] as const)(
    '%s: the fallback answers, and the run goes on as if nothing had been',
    (code) => {
      const shell = withSpare([exhausted(code), says('42', usage(1_000_000, 0))]);
      const result = finish(shell);
      expect(result).toMatchObject({
        stopReason: 'completed',
        answer: { text: '42' },
        counters: { fallbacks: 1, modelCalls: 1 },
      });
      expect(modelsOf(shell)).toEqual(['model', 'spare']);
      expect(transitionsOf(shell)).toEqual(['model_fallback']);
      expect(ofType(shell, 'model_error')).toMatchObject([{ class: code, attempts: 7 }]);
      expect(lettersOf(shell.transcript)).toBe('U A');
    },
  );

  test('what the fallback brings is paid at its own prices', () => {
    const shell = withSpare([exhausted('Overloaded'), says('42', usage(100_000, 1_000))]);
    expect(finish(shell).costMicroUsd).toBe(102_000);
  });

  test('what its attempts cost before is not forgotten', () => {
    const lost = { lostCostMicroUsd: 30, lostUsage: { input: 10, output: 0 } };
    const shell = withSpare([exhausted('ServerError', lost), says('42', usage(1_000_000, 0))]);
    expect(finish(shell)).toMatchObject({ costMicroUsd: 1_000_030, usage: { input: 1_000_010 } });
  });

  test.each(['AuthError', 'InvalidRequest', 'NetworkTimeout', 'MalformedReply'] as const)(
    '%s: no other model would help',
    (code) => {
      const shell = withSpare([exhausted(code), says('late')]);
      expect(finish(shell)).toMatchObject({
        stopReason: 'failed',
        detail: `model_error:${code}`,
        counters: { fallbacks: 0 },
      });
    },
  );

  test('without a fallback the run fails and names the class', () => {
    const shell = createShell({ model: [exhausted('Overloaded'), says('late')] });
    expect(finish(shell)).toMatchObject({ stopReason: 'failed', detail: 'model_error:Overloaded' });
  });

  test('a fallback that fails as well ends the run: there is one', () => {
    const shell = withSpare([exhausted('Overloaded'), exhausted('RateLimited'), says('late')]);
    expect(finish(shell)).toMatchObject({
      stopReason: 'failed',
      detail: 'model_error:RateLimited',
      counters: { fallbacks: 1 },
    });
    expect(requestsOf(shell)).toHaveLength(2);
  });

  test('a fallback that is the model itself is none', () => {
    const shell = createShell({
      settings: { fallbackModel: 'scripted/model' },
      model: [exhausted('Overloaded'), says('late')],
    });
    expect(finish(shell).stopReason).toBe('failed');
  });

  test('an interrupt that arrives with the failure ends the run', () => {
    const shell = withSpare([exhausted('Overloaded'), says('late')]);
    until(shell, 'session_init');
    shell.inbox.push({ type: 'interrupt', at: shell.now });
    expect(finish(shell).stopReason).toBe('interrupted');
    expect(requestsOf(shell)).toHaveLength(1);
  });
});

describe('the money of a fallback', () => {
  test('is reserved at its prices; what does not fit is not asked', () => {
    const dear = { input: 900_000_000, output: 900_000_000, cacheRead: 0, cacheWrite: 0 };
    const shell = withSpare([exhausted('Overloaded'), says('late')], {
      routes: { [SPARE]: { prices: dear } },
      budget: { maxCostMicroUsd: 50_000 },
    });
    expect(finish(shell)).toMatchObject({ stopReason: 'max_cost', counters: { fallbacks: 1 } });
    expect(modelsOf(shell)).toEqual(['model']);
  });

  test('is bound by the bytes of the prompt where another model counted its tokens', () => {
    const reads = { ...calls(call('a', 'read_order')), bytes: 7_000 };
    const shell = withSpare([reads, exhausted('Overloaded'), says('42', usage(2_000, 10))]);
    finish(shell);
    const [first, own, spare] = requestsOf(shell).map(({ bound }) => bound.inputTokens);
    const counted = 1_100;
    expect(spare).toBe(first! + 7_000 + (own! - counted));
  });

  test('is bound by twice the tokens where nobody has counted the bytes', () => {
    const model = [
      calls(call('a', 'read_order')),
      exhausted('Overloaded'),
      says('42', usage(2_000, 10)),
    ];
    const shell = withSpare(model);
    finish(shell);
    const [, own, spare] = requestsOf(shell).map(({ bound }) => bound.inputTokens);
    expect(spare! - own!).toBe(1_100);
  });

  test('its context window is the one that counts', () => {
    const shell = withSpare(
      [calls(call('a', 'read_order')), exhausted('Overloaded'), says('late')],
      { routes: { [SPARE]: { contextWindow: 1_000 } } },
    );
    expect(finish(shell).stopReason).toBe('prompt_too_long');
    expect(modelsOf(shell)).toEqual(['model', 'model']);
  });
});

describe('S107: part of a reply had arrived', () => {
  const model = [
    calls(call('a', 'read_order')),
    exhausted('Overloaded', { partial: true }),
    says('42'),
  ];

  test('its message is declared gone, and its id names nothing else', () => {
    const shell = withSpare(model);
    finish(shell);
    const [tombstone] = ofType(shell, 'tombstone');
    expect(tombstone).toMatchObject({ reason: 'Overloaded' });
    expect(tombstone?.targetMessageId).toBe(requestsOf(shell)[1]?.replyMessageId);
    const ids = shell.transcript.messages.map((message) => message.id);
    expect(ids).not.toContain(tombstone?.targetMessageId);
    expect(ofType(shell, 'model_response').at(-1)?.messageId).toBe(ids.at(-1));
  });

  test('what came before it stays', () => {
    const shell = withSpare(model);
    finish(shell);
    expect(lettersOf(shell.transcript)).toBe('U A R A');
    expect(requestsOf(shell)[2]?.append).toEqual(requestsOf(shell)[1]?.append);
  });

  test('nothing is declared gone when nothing had arrived', () => {
    const shell = withSpare([exhausted('Overloaded'), says('42')]);
    finish(shell);
    expect(ofType(shell, 'tombstone')).toEqual([]);
  });
});

describe('how long the fallback stays', () => {
  const model = [
    exhausted('Overloaded'),
    says('cut', { stop: 'max_tokens' }),
    calls(call('a', 'read_order')),
    says('42'),
  ];

  test('turn: to the end of the turn, recoveries included', () => {
    const shell = withSpare(model);
    finish(shell);
    expect(modelsOf(shell)).toEqual(['model', 'spare', 'spare', 'model']);
  });

  test('session: to the end of the run, over segments too', () => {
    const shell = withSpare(model, { settings: { fallbackSticky: 'session' } });
    until(shell, 'tool_started');
    crossSegment(shell);
    finish(shell);
    expect(modelsOf(shell)).toEqual(['model', 'spare', 'spare', 'spare']);
  });

  test('turn: each turn that needs it switches again', () => {
    const shell = withSpare([
      exhausted('Overloaded'),
      calls(call('a', 'read_order')),
      exhausted('ServerError'),
      says('42'),
    ]);
    expect(finish(shell).counters.fallbacks).toBe(2);
  });

  test('turn: an answer in a conversation ends it too', () => {
    const shell = withSpare([exhausted('Overloaded'), says('hi'), says('again')], {
      settings: { afterAnswer: 'await_user' },
    });
    settle(shell);
    send(shell, { type: 'user_message', text: 'and?' });
    settle(shell);
    expect(modelsOf(shell)).toEqual(['model', 'spare', 'model']);
  });
});

test('who knows no tombstones sees the same conversation without them', () => {
  const details = { partial: true, lostCostMicroUsd: 0 };
  const shell = withSpare([failure('Overloaded', { details }), says('42')]);
  finish(shell);
  const known = shell.events.filter(({ type }) => type !== 'tombstone');
  expect(known).toHaveLength(shell.events.length - 1);
  const [tombstone] = ofType(shell, 'tombstone');
  expect(JSON.stringify(known)).not.toContain(`"${tombstone?.targetMessageId}"`);
  expect(ofType(shell, 'model_response').map(({ text }) => text)).toEqual([{ text: '42' }]);
});

describe('a model call of which nobody hears again', () => {
  test('costs what its attempts did, which is known before the run goes on', () => {
    const accounts = [{ costMicroUsd: 77, usage: { ...NO_USAGE, input: 5 } }];
    const shell = withSpare([failure('ServerError'), says('42')], { accounts });
    expect(finish(shell)).toMatchObject({ stopReason: 'completed', counters: { fallbacks: 1 } });
    const [account] = started(shell, 'account_call');
    expect(account?.input.effectId).toBe('call_model-2');
    expect(requestsOf(shell)[1]?.left.costMicroUsd).toBe(5_000_000 - 77);
    const answered = ofType(shell, 'model_response')[0]?.usage.input ?? 0;
    expect(shell.run.tally.usage.input).toBe(5 + answered);
    expect(shell.run.money.reserved).toEqual({});
  });

  test('is accounted for when a person has cancelled it', () => {
    const shell = createShell({
      model: [{ ...says('late'), delayMs: 60_000 }],
      accounts: [{ costMicroUsd: 77 }],
    });
    until(shell, 'session_init');
    while (requestsOf(shell).length === 0) tick(shell);
    send(shell, { type: 'interrupt' });
    expect(finish(shell)).toMatchObject({ stopReason: 'interrupted', costMicroUsd: 77 });
    expect(ofType(shell, 'run_result')[0]?.result.costMicroUsd).toBe(77);
  });

  test('counts with its whole bound, in money and in tokens, when nobody can say', () => {
    const accounts = [failure('StoreUnavailable')];
    const shell = createShell({ model: [failure('ServerError')], accounts });
    const result = finish(shell);
    const [request] = requestsOf(shell);
    expect(result.usage).toMatchObject({
      input: request?.bound.inputTokens,
      output: request?.maxTokens,
    });
    expect(result.costMicroUsd).toBe(request?.bound.costMicroUsd);
  });
});

describe('G47: a model that refuses', () => {
  const REFUSES = says('I would rather', { stop: 'refusal' });

  test('leaves the question to the fallback, and its refusal is unsaid', () => {
    const shell = withSpare([REFUSES, says('42')]);
    expect(finish(shell)).toMatchObject({
      stopReason: 'completed',
      counters: { fallbacks: 1, modelCalls: 2 },
    });
    expect(requestsOf(shell)[1]?.head).toBe('call_model-2:before');
    expect(ofType(shell, 'tombstone')).toMatchObject([
      { targetMessageId: ofType(shell, 'model_response')[0]?.messageId, reason: 'refusal' },
    ]);
    expect(transitionsOf(shell)).toEqual(['model_fallback']);
  });

  test('and a fallback that refuses as well: refused', () => {
    expect(finish(withSpare([REFUSES, REFUSES, says('late')]))).toMatchObject({
      stopReason: 'refused',
      detail: 'model_refusal',
    });
  });

  test('without a fallback: refused', () => {
    expect(finish(createShell({ model: [REFUSES] })).stopReason).toBe('refused');
  });
});

test('C37: StopFailure hooks hear of a failure only when no fallback takes over', () => {
  const hookNames = { StopFailure: ['told'] };
  const saved = withSpare([exhausted('Overloaded'), says('42')], { hookNames });
  finish(saved);
  expect(started(saved, 'run_hooks')).toEqual([]);
  const lost = withSpare([exhausted('Overloaded'), exhausted('Overloaded')], { hookNames });
  finish(lost);
  expect(started(lost, 'run_hooks').map(({ input }) => input.point)).toEqual(['StopFailure']);
});
