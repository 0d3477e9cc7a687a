import { parseBudgetOptions, parseSettingOptions } from '../../../cli/desk/assignments.js';
import { parseDuration } from '../../../cli/terminal/duration.js';
import { parseJsonText } from '../../../pure/json-text.js';
import { parseTaskText } from '../../../cli/terminal/task-input.js';

describe('a task file', () => {
  it('is a task, a task with its limits, or a plain goal', () => {
    expect(parseTaskText('{"goal":"x","constraints":["y"]}', 't.json')).toEqual({
      task: { goal: 'x', constraints: ['y'] },
    });
    const wrapped = { task: { goal: 'x' }, budget: { maxTurns: 1 } };
    expect(parseTaskText(JSON.stringify(wrapped), 't.json')).toEqual(wrapped);
    expect(parseTaskText('  Refund A-1\n', 'stdin')).toEqual({ task: { goal: 'Refund A-1' } });
  });

  it.each([
    ['{\n  "goal": "x",\n  "constraints": [y]\n}', 'line 3, column 19'],
    ['{"goal": "x"', 'the end'],
    ['{"goal": "x",}', 'a name in double quotes'],
    ['["goal"]', 'must be an object'],
    ['{"task": {"goal": "x"}, "bugdet": {}}', '"bugdet"'],
  ])('that is wrong says where: %j', (text, where) => {
    expect(() => parseTaskText(text, 'task.json')).toThrow(
      expect.objectContaining({ code: 'InvalidTask', message: expect.stringContaining(where) }),
    );
  });
});

it.each([
  ['{"a": tru}', 1, 7],
  ['{"a" 1}', 1, 6],
  ['{\n"a": "x\n"}', 2, 8],
  ['{"a": 1} x', 1, 10],
  ['', 1, 1],
  ['[1, 2', 1, 6],
  ['{"a": "\\q"}', 1, 8],
  ['{"a": 01}', 1, 8],
  ['[1,\r\n nope]', 2, 2],
  ['{"a": -}', 1, 7],
])('%j is found wrong at line %d, column %d', (text, line, column) => {
  expect(parseJsonText(text)).toMatchObject({ ok: false, line, column });
});

it('JSON that is right is taken, also with a byte order mark', () => {
  expect(parseJsonText('\uFEFF{"a": [1, -2.5e3, "\\u00e4", null, true]}')).toEqual({
    ok: true,
    value: { a: [1, -2500, 'ä', null, true] },
  });
});

it('JSON nested without end is an error and no crash', () => {
  expect(parseJsonText('['.repeat(100_000))).toMatchObject({ ok: false });
});

describe('limits on the command line', () => {
  it('are numbers, amounts, durations or unlimited', () => {
    const given = ['maxTurns=5', 'maxCostUsd=0.5', 'timeoutMs=30m', 'maxToolCalls=unlimited'];
    expect(parseBudgetOptions(given)).toEqual({
      maxTurns: 5,
      maxCostMicroUsd: 500_000,
      timeoutMs: 1_800_000,
      maxToolCalls: 'unlimited',
    });
  });

  it('and settings keep their kind', () => {
    const given = ['afterAnswer=await_user', 'approvalTimeoutMs=24h', 'propagateCancellation=true'];
    expect(parseSettingOptions(given)).toEqual({
      afterAnswer: 'await_user',
      approvalTimeoutMs: 86_400_000,
      propagateCancellation: true,
    });
  });

  it('and a setting that may be absent takes a name as well as JSON', () => {
    expect(parseSettingOptions(['fallbackModel=anthropic/x'])).toEqual({
      fallbackModel: 'anthropic/x',
    });
    expect(parseSettingOptions(['fallbackModel=null'])).toEqual({ fallbackModel: null });
    expect(() => parseSettingOptions(['betas=x'])).toThrow(
      expect.objectContaining({ code: 'Usage' }),
    );
  });

  it.each([
    ['maxTurn=5', 'maxTurn'],
    ['maxTurns', 'name=value'],
    ['=5', 'name=value'],
    ['maxTurns=many', 'maxTurns'],
    ['maxTurns=', 'maxTurns'],
    ['constructor=1', 'constructor'],
    ['maxCostUsd=-1', 'maxCostUsd'],
  ])('that cannot be meant are refused: %s', (text, named) => {
    expect(() => parseBudgetOptions([text])).toThrow(
      expect.objectContaining({ code: 'Usage', message: expect.stringContaining(named) }),
    );
  });

  it('durations have units', () => {
    expect(parseDuration('90s')).toBe(90_000);
    expect(parseDuration('1.5 h')).toBe(5_400_000);
    expect(parseDuration('250')).toBe(250);
    expect(parseDuration('soon')).toBeUndefined();
    expect(parseDuration('5 parsecs')).toBeUndefined();
  });
});
