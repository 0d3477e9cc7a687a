/** What effects need of a worker's code, and what becomes of a call whose code is another one now (G118, G110). */
import { CHANGES, RULES_VERSION } from '../../../core/step/changes.js';
import type { OpenRun } from '../../../core/state/run.js';
import { unservedLimit } from '../../../core/step/route.js';
import { DEFAULT_SETTINGS } from '../../../core/state/settings.js';
import { viewOfRun } from '../../../core/loop/run-result.js';
import { call, calls, decisionOn, says, tool, type Script } from '../script.js';
import {
  answer,
  askOf,
  codesOf,
  createShell,
  executedOf,
  finish,
  ofType,
  send,
  settle,
  started,
  warningsOf,
  type Shell,
} from '../shell.js';

const DAY_MS = 86_400_000;
const ARGS = { order: 'O-104', amount: 50 };
const ASKED = { approval: { roles: [], quorum: 1 } } as const;

function pay(changes: object = {}) {
  return tool('issue_refund', { effect: 'financial', idempotency: 'keyed', ...changes });
}

function played(script: Partial<Script> = {}): Shell {
  const model = [calls(call('a', 'issue_refund', ARGS)), says('done')];
  return settle(createShell({ tools: [pay()], model, ...script }));
}

describe('what an effect needs', () => {
  const hookNames = { PreToolUse: ['guard'], SessionEnd: ['bye'] };

  test('goes along with it: the schema that was frozen, and how long it is waited for', () => {
    const shell = played({ hookNames, settings: { unservedTimeoutMs: 7_000_000 } });
    const [execution] = started(shell, 'execute_tool');
    expect(execution!.input).toMatchObject({ schemaHash: 'schema', unservedMs: 7_000_000 });
    expect(started(shell, 'call_model')[0]!.input).toMatchObject({ unservedMs: 7_000_000 });
    const waits = started(shell, 'run_hooks').map(({ input }) => input.unservedMs);
    // Nothing waits longer for its hooks at the end of a run.
    expect(waits).toEqual([7_000_000, 60_000]);
  });

  test('is not said under older rules', () => {
    const shell = played({ hookNames, rules: CHANGES.waitForCode.since - 1 });
    for (const effect of shell.effects) {
      expect(JSON.stringify(effect)).not.toMatch(/unservedMs|schemaHash":"schema","workMs/);
    }
  });

  test('is a day where the release that opened the run froze nothing', () => {
    const { unservedTimeoutMs: _, ...settings } = DEFAULT_SETTINGS;
    const older = { rules: RULES_VERSION, frozen: { settings } } as unknown as OpenRun;
    expect(unservedLimit(older)).toEqual({ unservedMs: DAY_MS });
  });

  test('a tool that can tell nothing afterwards is not waited for in doubt', () => {
    const outcomes = { issue_refund: [{ ambiguous: 'cut off' }] };
    const findings = [{ kind: 'not_happened' as const }];
    const mute = played({ outcomes, findings, tools: [pay()] });
    expect(started(mute, 'reconcile_tool')[0]!.input).not.toHaveProperty('unservedMs');
    const telling = played({ outcomes, findings, tools: [pay({ probes: true })] });
    expect(started(telling, 'reconcile_tool')[0]!.input).toMatchObject({ schemaHash: 'schema' });
  });
});

describe('arguments that the worker of the model could not check', () => {
  const unchecked = { ...call('a', 'issue_refund', ARGS), check: { ok: true, unchecked: true } };
  const model = [calls(unchecked as ReturnType<typeof call>), says('done')];

  test('are checked by a worker that can, before anybody is asked', () => {
    const shell = played({ model, tools: [pay(ASKED)] });
    expect(started(shell, 'check_call')[0]!.input).toMatchObject({
      tool: 'issue_refund',
      args: ARGS,
      schemaHash: 'schema',
      unservedMs: DAY_MS,
    });
    expect(askOf(shell)).toMatchObject({ args: ARGS });
    expect(ofType(shell, 'validation')).toHaveLength(1);
    answer(shell);
    expect(finish(shell)).toMatchObject({ stopReason: 'completed' });
    expect(executedOf(shell)).toEqual(['a issue_refund case:0 1']);
  });

  test.each([
    ['invalid_arguments', 'completed'],
    ['tool_unavailable', 'completed'],
  ] as const)('that are %s are a result for the model', (code, stopReason) => {
    const check = () => ({ ok: false, code, message: 'no' }) as const;
    const shell = played({ model, check });
    expect(finish(shell)).toMatchObject({ stopReason });
    expect(codesOf(shell)).toEqual({ a: code });
    expect(executedOf(shell)).toEqual([]);
  });

  test('end a task that cannot do without the tool', () => {
    const check = () => ({ ok: false, code: 'tool_unavailable', message: 'no' }) as const;
    const requiredEvidence = [{ id: 'paid', satisfiedBy: 'issue_refund' }];
    const shell = played({ model, check, task: { requiredEvidence } });
    expect(finish(shell)).toMatchObject({ stopReason: 'tool_unavailable' });
  });
});

describe('a tool that says that nobody can call it', () => {
  const outcomes = { issue_refund: [{ error: 'down', code: 'tool_unavailable' } as const] };
  const successCriteria = [{ id: 'paid', when: { path: 'tools.issue_refund', equals: true } }];

  test.each<[string, Partial<Script>, string]>([
    ['is required', { tools: [pay({ required: true })] }, 'tool_unavailable'],
    ['is what a criterion needs', { task: { successCriteria } }, 'tool_unavailable'],
    ['is needed by nothing', {}, 'completed'],
  ])('%s', (_, script, stopReason) => {
    expect(finish(played({ outcomes, ...script }))).toMatchObject({ stopReason });
    const rules = CHANGES.waitForCode.since - 1;
    const older = finish(played({ outcomes, ...script, rules }));
    expect(older.stopReason).not.toBe('tool_unavailable');
  });
});

describe('a tool that is served with another schema', () => {
  const outcomes = { issue_refund: [{ schemaChanged: 'newer' }, { ok: 'paid' }] };

  test('has its call checked again, and whoever approved it is asked again', () => {
    const shell = played({ outcomes, tools: [pay(ASKED)] });
    const first = askOf(shell);
    answer(shell, { by: 'mia' });
    settle(shell);
    const second = askOf(shell);
    expect(second.askId).toBe(`${first.askId}:r1`);
    expect(started(shell, 'check_call')[0]!.input).toMatchObject({
      args: ARGS,
      schemaHash: 'newer',
    });
    const [warning] = ofType(shell, 'warning');
    expect(warning).toMatchObject({ code: 'tool_schema_changed' });
    expect(warning!.message).toMatch(/issue_refund@1 .*newer.*schema/);
    answer(shell, { by: 'mia' });
    expect(finish(shell)).toMatchObject({ stopReason: 'completed' });
    expect(executedOf(shell)).toEqual(['a issue_refund case:0 1', 'a issue_refund case:0:r1 1']);
    const hashes = started(shell, 'execute_tool').map(({ input }) => input.schemaHash);
    expect(hashes).toEqual(['schema', 'newer']);
  });

  test('and does not take the arguments, is a result for the model', () => {
    const check = () => ({ ok: false, code: 'invalid_arguments', message: 'no' }) as const;
    const shell = played({ outcomes, check });
    expect(finish(shell)).toMatchObject({ stopReason: 'completed' });
    expect(codesOf(shell)).toEqual({ a: 'invalid_arguments' });
  });

  test('is found by the check alone, and remembered', () => {
    const unchecked = { ...call('a', 'issue_refund', ARGS), check: { ok: true, unchecked: true } };
    const model = [calls(unchecked as ReturnType<typeof call>), says('done')];
    const shell = played({ model, checkedBy: 'newer' });
    expect(warningsOf(shell)).toEqual(['tool_schema_changed']);
    expect(started(shell, 'execute_tool')[0]!.input).toMatchObject({ schemaHash: 'newer' });
  });

  test('changes no longer than a few times', () => {
    const shell = played({ outcomes: { issue_refund: [{ schemaChanged: 'a' }] } });
    expect(finish(shell)).toMatchObject({ stopReason: 'completed' });
    expect(codesOf(shell)).toEqual({ a: 'tool_unavailable' });
    expect(executedOf(shell)).toHaveLength(6);
  });

  test('leaves an attempt before it in doubt', () => {
    const repeating = pay({ probes: true, onLost: 'repeat_with_key' });
    const entries = [{ ambiguous: 'cut off' }, { schemaChanged: 'newer' }];
    const findings = [{ kind: 'repeat' as const }];
    const shell = played({ tools: [repeating], outcomes: { issue_refund: entries }, findings });
    expect(askOf(shell)).toMatchObject({ kind: 'outcome' });
  });
});

describe('a call that somebody approved before another call met a newer schema', () => {
  const OTHER = { order: 'O-105', amount: 7 };
  const model = [
    calls(call('a', 'issue_refund', ARGS), call('b', 'issue_refund', OTHER)),
    says('done'),
  ];
  const outcomes = { issue_refund: [{ schemaChanged: 'newer' }, { ok: 'paid' }, { ok: 'paid' }] };
  const settings = { toolExecution: 'dataflow' } as const;

  function approveAll(shell: Shell): void {
    for (const ask of viewOfRun(shell.run).asks) {
      send(shell, { type: 'decision', decision: decisionOn(ask, { decidedAt: shell.now }) });
    }
    settle(shell);
  }

  test('is checked by that schema as well, and asked about again', () => {
    const shell = played({ model, outcomes, settings, tools: [pay(ASKED)] });
    expect(viewOfRun(shell.run).asks.map(({ askId }) => askId)).toEqual(['run_1:0:0', 'run_1:0:1']);
    approveAll(shell);
    const again = viewOfRun(shell.run).asks.map(({ askId }) => askId);
    expect(again).toEqual(['run_1:0:0:r1', 'run_1:0:1:r1']);
    expect(started(shell, 'check_call').map(({ input }) => input.args)).toEqual([ARGS, OTHER]);
    approveAll(shell);
    expect(finish(shell)).toMatchObject({ stopReason: 'completed' });
    expect(executedOf(shell)).toEqual([
      'a issue_refund case:0:0 1',
      'a issue_refund case:0:0:r1 1',
      'b issue_refund case:0:1:r1 1',
    ]);
    expect(warningsOf(shell)).toEqual(['tool_schema_changed']);
  });

  test('that waits its turn is checked by that schema before anybody is asked', () => {
    const shell = played({ model, outcomes, tools: [pay(ASKED)] });
    approveAll(shell);
    approveAll(shell);
    expect(viewOfRun(shell.run).asks.map(({ askId }) => askId)).toEqual(['run_1:0:1']);
    expect(started(shell, 'check_call').map(({ input }) => input.args)).toEqual([ARGS, OTHER]);
    approveAll(shell);
    expect(finish(shell)).toMatchObject({ stopReason: 'completed' });
  });

  test('is checked again too when a correction has put that tool in the place of its own', () => {
    const mixed = [
      calls(call('a', 'issue_refund', ARGS), call('b', 'x_credit', OTHER)),
      says('done'),
    ];
    const tools = [pay(ASKED), { ...pay(ASKED), name: 'x_credit' }];
    const shell = played({ model: mixed, outcomes, settings, tools });
    const [first, second] = viewOfRun(shell.run).asks;
    const decidedAt = shell.now;
    send(shell, { type: 'decision', decision: decisionOn(first!, { decidedAt }) });
    const wanted = { tool: 'issue_refund', args: OTHER } as const;
    const replace = { decision: 'replace', ...wanted, decidedAt } as const;
    send(shell, { type: 'decision', decision: decisionOn(second!, replace) });
    settle(shell);
    const hashes = started(shell, 'check_call').map(({ input }) => input.schemaHash);
    expect(hashes).toEqual(['schema', 'newer', 'newer']);
    approveAll(shell);
    expect(finish(shell)).toMatchObject({ stopReason: 'completed' });
    const executed = started(shell, 'execute_tool').map(({ input }) => input.schemaHash);
    expect(executed).toEqual(['schema', 'newer', 'newer']);
  });

  test('runs on that approval under older rules', () => {
    const rules = CHANGES.schemasRechecked.since - 1;
    const shell = played({ model, outcomes, settings, tools: [pay(ASKED)], rules });
    approveAll(shell);
    expect(executedOf(shell)).toContain('b issue_refund case:0:1 1');
    approveAll(shell);
    finish(shell);
  });
});
