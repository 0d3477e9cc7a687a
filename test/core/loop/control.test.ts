/** Control from outside: another model, another thinking budget, from the next request on. */
import { parseModelName, parseThinkingTokens } from '../../../core/messages/parse-message.js';
import { routeHash } from '../../../core/step/route.js';
import { CHANGES } from '../../../core/step/changes.js';
import { viewOfRun } from '../../../core/loop/run-result.js';
import { call, calls, failure, says, scriptedRoute, usage, type Script } from '../script.js';
import {
  createShell,
  crossSegment,
  finish,
  ofType,
  post,
  requestsOf,
  send,
  settle,
  started,
  until,
  warningsOf,
  type Outside,
  type Shell,
} from '../shell.js';

const READ = calls(call('a', 'read_order'));
const CHEAP = { input: 1_000_000, output: 0, cacheRead: 0, cacheWrite: 0 };
const M2 = 'scripted/m2';
const M3 = 'scripted/m3';

function setModel(model: string): Outside {
  return { type: 'set_model', model };
}

function controlled(script: Script): Shell {
  return createShell({ routes: { [M2]: { prices: CHEAP }, [M3]: {} }, ...script });
}

function modelsOf(shell: Shell): readonly string[] {
  return requestsOf(shell).map(({ route }) => route.model);
}

describe('S159: setModel', () => {
  test('while a tool runs: the next request goes to the new model, at its prices', () => {
    const shell = controlled({ model: [READ, says('42', usage(100_000, 500))] });
    until(shell, 'tool_started');
    send(shell, setModel(M2));
    const result = finish(shell);
    expect(modelsOf(shell)).toEqual(['model', 'm2']);
    expect(result.costMicroUsd).toBe(4_500 + 100_000);
    expect(warningsOf(shell)).toEqual(['billed_above_bound']);
    expect(viewOfRun(shell.run).model).toBe(M2);
  });

  test('while the model answers: that call is paid as it was asked, the next one is the new model', () => {
    const shell = controlled({ model: [{ ...READ, delayMs: 50 }, says('42', usage(0, 0))] });
    until(shell, 'session_init');
    send(shell, setModel(M2));
    expect(finish(shell).costMicroUsd).toBe(4_500);
    expect(modelsOf(shell)).toEqual(['model', 'm2']);
  });

  test('before anything was asked: the first request is the new model already', () => {
    const shell = controlled({ model: [says('42')] });
    send(shell, setModel(M2));
    finish(shell);
    expect(modelsOf(shell)).toEqual(['m2']);
  });

  test('twice: the last one counts', () => {
    const shell = controlled({ model: [READ, says('42')] });
    until(shell, 'tool_started');
    send(shell, setModel(M2));
    send(shell, setModel(M3));
    finish(shell);
    expect(modelsOf(shell)).toEqual(['model', 'm3']);
  });

  test('to a model that nobody knows: refused with a warning, the run goes on', () => {
    const shell = controlled({ model: [READ, says('42')] });
    until(shell, 'tool_started');
    send(shell, setModel('nobody/knows'));
    expect(finish(shell).stopReason).toBe('completed');
    expect(ofType(shell, 'warning')).toMatchObject([
      { code: 'model_refused', message: expect.stringContaining('nobody/knows') },
    ]);
    expect(modelsOf(shell)).toEqual(['model', 'model']);
  });

  test('in a conversation that waits: its next turn is the new model', () => {
    const shell = settle(
      controlled({ settings: { afterAnswer: 'await_user' }, model: [says('hi'), says('there')] }),
    );
    send(shell, setModel(M2));
    settle(shell);
    send(shell, { type: 'user_message', text: 'and?' });
    settle(shell);
    expect(modelsOf(shell)).toEqual(['model', 'm2']);
  });

  test('together with a message: the message is for the new model', () => {
    const shell = settle(
      controlled({ settings: { afterAnswer: 'await_user' }, model: [says('hi'), says('there')] }),
    );
    send(shell, { type: 'user_message', text: 'and?' }, setModel(M2));
    settle(shell);
    expect(modelsOf(shell)).toEqual(['model', 'm2']);
  });

  test('lasts over segments', () => {
    const shell = controlled({ model: [READ, READ, says('42')] });
    until(shell, 'tool_started');
    send(shell, setModel(M2));
    crossSegment(shell);
    finish(shell);
    expect(modelsOf(shell)).toEqual(['model', 'm2', 'm2']);
  });

  test('an interrupt while the name is looked up ends the run and the looking up', () => {
    const shell = controlled({ model: [READ, says('42')] });
    until(shell, 'tool_started');
    send(shell, setModel(M2));
    post(shell, { type: 'interrupt' });
    expect(finish(shell).stopReason).toBe('interrupted');
    expect(shell.run.inflight).toEqual({});
  });

  test('G76: the window of the new model is looked at before it is asked', () => {
    const shell = controlled({
      routes: { [M2]: { contextWindow: 1_000 } },
      model: [READ, says('late')],
    });
    until(shell, 'tool_started');
    send(shell, setModel(M2));
    expect(finish(shell).stopReason).toBe('prompt_too_long');
    expect(modelsOf(shell)).toEqual(['model']);
  });

  test('a person’s choice ends a fallback, and the fallback stays there for it', () => {
    const overloaded = failure('Overloaded', { details: { lostCostMicroUsd: 0 } });
    const shell = controlled({
      routes: { [M2]: {}, 'scripted/spare': {} },
      settings: { fallbackModel: 'scripted/spare', fallbackSticky: 'session' },
      model: [overloaded, READ, overloaded, says('42')],
    });
    until(shell, 'tool_started');
    send(shell, setModel(M2));
    finish(shell);
    expect(modelsOf(shell)).toEqual(['model', 'spare', 'm2', 'spare']);
  });

  describe('S189: the result names', () => {
    const SPARE = 'scripted/spare';
    const routes = { [M2]: { pricesVersion: 'p2' }, [SPARE]: {} };
    const hashOf = (name: string) => routeHash(scriptedRoute({ routes, model: [] }, name)!);

    function versions(rules?: number) {
      const overloaded = failure('Overloaded', { details: { lostCostMicroUsd: 0 } });
      const shell = controlled({
        routes,
        settings: { fallbackModel: SPARE },
        model: [READ, READ, overloaded, says('42')],
        ...(rules !== undefined && { rules }),
      });
      until(shell, 'tool_started');
      send(shell, setModel(M2));
      return finish(shell).versions;
    }

    test('every route that was asked by its hash, the first as people call it, and their prices', () => {
      expect(versions()).toMatchObject({
        modelRoute: `scripted/model, ${hashOf(M2)}, ${hashOf(SPARE)}`,
        pricing: 'p1, p2',
        policy: '7',
      });
    });

    test('routes by their names under rules before 10', () => {
      const { modelRoute } = versions(CHANGES.routeHashes.since - 1);
      expect(modelRoute).toBe(`scripted/model, ${M2}, ${SPARE}`);
    });

    test('no route that was never asked', () => {
      const shell = controlled({ routes, model: [says('42')] });
      send(shell, setModel(M2));
      expect(finish(shell).versions['modelRoute']).toBe(hashOf(M2));
    });

    test('two routes of one name that say different things of their model', () => {
      const model = 'scripted/model';
      const wider = { [model]: { contextWindow: 900_000 } };
      const shell = controlled({ routes: wider, model: [READ, says('42')] });
      until(shell, 'tool_started');
      send(shell, setModel(model));
      const hash = routeHash(scriptedRoute({ routes: wider, model: [] }, model)!);
      expect(finish(shell).versions['modelRoute']).toBe(`scripted/model, ${hash}`);
    });
  });

  test('is looked up once, by name', () => {
    const shell = controlled({ model: [READ, says('42')] });
    until(shell, 'tool_started');
    send(shell, setModel(M2));
    finish(shell);
    expect(started(shell, 'resolve_model').map(({ input }) => input.model)).toEqual([M2]);
  });

  test.each([
    ['unlimited', CHANGES.unpricedModels.since, 'unlimited'],
    ['unlimited', CHANGES.unpricedModels.since - 1, undefined],
    [5_000_000, CHANGES.unpricedModels.since, undefined],
  ] as const)('with money %j under rules %i needs prices unless %j', (money, rules, said) => {
    const budget = { maxCostMicroUsd: money };
    const shell = controlled({ model: [READ, says('42')], budget, rules });
    until(shell, 'tool_started');
    send(shell, setModel(M2));
    finish(shell);
    const inputs = started(shell, 'resolve_model').map(({ input }) => input);
    expect(inputs.map((input) => input.money)).toEqual([said]);
  });
});

describe('S160: setMaxThinkingTokens', () => {
  const limitsOf = (shell: Shell) =>
    requestsOf(shell).map(({ maxThinkingTokens }) => maxThinkingTokens);

  test('is effective at the next request', () => {
    const shell = controlled({ model: [READ, READ, says('42')] });
    until(shell, 'tool_started');
    send(shell, { type: 'set_max_thinking_tokens', tokens: 4_000 });
    finish(shell);
    expect(limitsOf(shell)).toEqual([undefined, 4_000, 4_000]);
  });

  test('takes the place of the budget, and null gives the model its own default', () => {
    const shell = controlled({ budget: { maxThinkingTokens: 2_000 }, model: [READ, says('42')] });
    until(shell, 'tool_started');
    send(shell, { type: 'set_max_thinking_tokens', tokens: null });
    finish(shell);
    expect(limitsOf(shell)).toEqual([2_000, undefined]);
  });

  const M4 = { routes: { [M2]: { thinkingAllowed: false }, [M3]: { thinkingAdaptive: true } } };

  function thinking(model: string, tokens: number, more: Partial<Script> = {}): Shell {
    const shell = createShell({ ...M4, model: [READ, READ, says('42')], ...more });
    send(shell, setModel(model), { type: 'set_max_thinking_tokens', tokens });
    finish(shell);
    return shell;
  }

  test.each([M2, M3])('a limit that %s has no knob for is a warning, once a run', (model) => {
    const shell = thinking(model, 4_000);
    const [warning] = ofType(shell, 'warning');
    expect(warningsOf(shell)).toEqual(['thinking_limit_ignored']);
    expect(warning?.message).toMatch(/^scripted\/m. .*: maxThinkingTokens 4000 has no effect$/);
  });

  test('no thinking at all is what such a model does, or can be told', () => {
    expect(warningsOf(thinking(M2, 0))).toEqual([]);
    expect(warningsOf(thinking(M3, 0))).toEqual([]);
    expect(warningsOf(thinking('scripted/model', 4_000, { routes: {} }))).toEqual([
      'model_refused',
    ]);
  });

  test('rules before 10 say nothing of it', () => {
    const { since } = CHANGES.thinkingTold;
    expect(warningsOf(thinking(M2, 4_000, { rules: since - 1 }))).toEqual([]);
  });
});

describe('what comes by signal', () => {
  test.each(['', '  ', 7, null, undefined, {}, 'x'.repeat(201)])('%j names no model', (raw) => {
    expect(parseModelName(raw)).toMatchObject({ ok: false });
  });

  test.each([-1, 1.5, '5', Number.NaN, 1_000_001, undefined, [], {}])(
    '%j is no number of thinking tokens',
    (raw) => {
      expect(parseThinkingTokens(raw)).toMatchObject({ ok: false });
    },
  );

  test.each([0, 1_000_000, null])('%j is one', (raw) => {
    expect(parseThinkingTokens(raw)).toEqual({ ok: true, value: raw });
  });
});
