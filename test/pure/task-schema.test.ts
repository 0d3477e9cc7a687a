import { taskDefect } from '../../pure/task-schema.js';

const GOAL = { goal: 'Refund A-1' };
const proof = (predicate: object) => ({
  requiredEvidence: [{ id: 'a', satisfiedBy: 'b', predicate }],
});

describe('the first defect of a task is named by its path', () => {
  test.each([
    ['a task that is a list', [], 'task', 'it must be an object'],
    ['a goal that is missing', {}, 'task.goal', 'it must be a text'],
    [
      'a blank line',
      { ...GOAL, constraints: ['a', ' '] },
      'task.constraints.1',
      'it must not be blank',
    ],
    [
      'a list that is a text',
      { ...GOAL, allowedActions: 'a' },
      'task.allowedActions',
      'it must be a list',
    ],
    [
      'more entries than a list may have',
      { ...GOAL, stopReasons: Array.from({ length: 101 }, () => '') },
      'task.stopReasons',
      'it has more than 100 entries',
    ],
    [
      'entries that are too large together',
      { ...GOAL, constraints: Array.from({ length: 5 }, () => 'x'.repeat(1_900)) },
      'task.constraints',
      'it is too large',
    ],
    ['an id with a space', { ...GOAL, taskId: 'a b' }, 'task.taskId', /1 to 128 of/],
    [
      'a caller in another form of its letters',
      { ...GOAL, caller: 'e\u0301' },
      'task.caller',
      /form C/,
    ],
    [
      'a condition on no path',
      { ...GOAL, ...proof({ path: 'a..b', exists: true }) },
      'task.requiredEvidence.0.predicate.path',
      'it must be a dotted path',
    ],
    [
      'a bound that is no number',
      { ...GOAL, ...proof({ path: 'a', lte: '3' }) },
      'task.requiredEvidence.0.predicate.lte',
      'it must be a number',
    ],
    [
      'metadata with a date',
      { ...GOAL, metadata: { at: new Date(0) } },
      'task.metadata',
      /plain JSON/,
    ],
    [
      'metadata with a big integer',
      { ...GOAL, metadata: { n: 1n } },
      'task.metadata',
      /plain JSON/,
    ],
    [
      'metadata of too many bytes',
      { ...GOAL, metadata: { text: 'é'.repeat(9_000) } },
      'task.metadata',
      'it must be JSON of at most 16384 bytes',
    ],
  ])('%s', (_what, task, path, why) => {
    expect(taskDefect(task)).toEqual({ path, why: expect.stringMatching(why) });
  });

  test('values that nest without end', () => {
    const endless: { [key: string]: unknown } = {};
    endless.self = endless;
    expect(taskDefect({ ...GOAL, metadata: endless })).toEqual({
      path: 'task',
      why: 'it nests too deeply',
    });
  });
});

test('a misspelt field is named before the one that is missing; of the task itself only where it is to be', () => {
  const task = { gaol: 'Refund A-1' };
  expect(taskDefect(task, 'refused')?.why).toMatch(
    /^it has no field "gaol"; fields are goal, taskId/,
  );
  expect(taskDefect(task, 'ignored')).toEqual({ path: 'task.goal', why: 'it must be a text' });
  const evidence = { ...GOAL, requiredEvidence: [{ id: 'a', satisfied: 'b' }] };
  expect(taskDefect(evidence, 'ignored')).toEqual({
    path: 'task.requiredEvidence.0',
    why: 'it has no field "satisfied"; fields are id, satisfiedBy, predicate',
  });
});

test('unknown fields of a task are ignored where it was written for another release', () => {
  expect(taskDefect({ ...GOAL, ofTomorrow: 1 })).toBeUndefined();
});

describe('a value of any size is judged at once', () => {
  const MANY = 300_000;
  const SOON_MS = 3_000;

  test.each([
    ['objects', Array.from({ length: MANY }, () => ({ a: 1 })), /at most 16384 bytes/],
    ['what is no JSON', Array.from({ length: MANY }, () => undefined), 'it must be plain JSON'],
  ])('%s', (_what, values, why) => {
    const before = performance.now();
    expect(taskDefect({ ...GOAL, metadata: { values } })?.why).toMatch(why);
    expect(performance.now() - before).toBeLessThan(SOON_MS);
  });
});
