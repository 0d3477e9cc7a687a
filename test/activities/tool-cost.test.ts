/** What calls of a tool cost, as the tool says it, and as is charged where nobody heard it. */
import { ToolError } from '../../authoring/index.js';
import { RETRYABLE } from '../../authoring/tool-error.js';
import { effect, executeInput, failureFrom, attempt } from './setup.js';
import {
  bedWith,
  call,
  execute,
  interrupted,
  KEYED_WRITE,
  type Run,
  type ToolBed,
} from './tool-bed.js';

let bed: ToolBed;
afterEach(() => bed.end());

const COST = { cost: { each: 100, most: 200 } };
const BOUND = { maxCostMicroUsd: 100 };

async function costOf(run: Run, shape: object = {}, changes: object = COST) {
  bed = await bedWith(run, { ...BOUND, ...shape });
  const { costMicroUsd, costUnreadable } = await execute(bed, effect(), changes);
  return { costMicroUsd, ...(costUnreadable && { costUnreadable }) };
}

test.each([{}, KEYED_WRITE, { effect: 'financial', idempotency: 'keyed' }])(
  'a call costs what its tool reports, piece by piece (%j)',
  async (shape) => {
    const report: Run = (_, ctx) => [ctx.cost(30), ctx.cost(12), 'done'].at(-1);
    expect(await costOf(report, shape)).toEqual({ costMicroUsd: 42 });
  },
);

test('a call that says nothing costs nothing, and one above its bound what it says', async () => {
  expect(await costOf(() => 'done')).toEqual({ costMicroUsd: 0 });
  await bed.end();
  expect(await costOf((_, ctx) => ctx.cost(5_000))).toEqual({ costMicroUsd: 5_000 });
});

test('what a tool without a declared cost reports counts as well', async () => {
  expect(await costOf((_, ctx) => ctx.cost(7), {}, {})).toEqual({ costMicroUsd: 7 });
  await bed.end();
  expect(await costOf(() => 'done', {}, {})).toEqual({});
});

test.each([-1, 0.5, Number.NaN, Infinity, '3', undefined, Number.MAX_SAFE_INTEGER])(
  'of a figure that is no whole number (%p), or too large, the bound counts',
  async (figure) => {
    const report: Run = (_, ctx) => [ctx.cost(1), ctx.cost(figure as number), 'done'].at(-1);
    expect(await costOf(report)).toEqual({ costMicroUsd: 100, costUnreadable: true });
  },
);

test('a call that says that nothing happened costs what it reports', async () => {
  const fail: Run = (_, ctx) => {
    ctx.cost(3);
    throw new ToolError('no such order');
  };
  expect(await costOf(fail)).toEqual({ costMicroUsd: 3 });
  await bed.end();
  expect(await costOf(fail, KEYED_WRITE)).toEqual({ costMicroUsd: 3 });
});

test('a call whose outcome is in doubt costs its bound', async () => {
  const fail: Run = (_, ctx) => {
    ctx.cost(3);
    throw new Error('the line is dead');
  };
  const financial = { effect: 'financial', idempotency: 'keyed' };
  expect(await costOf(fail, financial)).toEqual({ costMicroUsd: 100 });
});

test('a read that is interrupted costs its bound', async () => {
  bed = await bedWith(() => new Promise(() => undefined), BOUND);
  const { costMicroUsd } = await interrupted(bed, undefined, COST);
  expect(costMicroUsd).toBe(100);
});

describe('attempts before the one that answers', () => {
  test('cost what they reported when they ended', async () => {
    let started = 0;
    const run: Run = (_, ctx) => {
      started += 1;
      ctx.cost(started);
      if (started < 2) throw new ToolError(RETRYABLE, 'busy');
      return 'done';
    };
    bed = await bedWith(run, BOUND);
    const input = executeInput(call, { maxRetries: 3, ...COST });
    const first = effect();
    await failureFrom(attempt(bed.activities().execute_tool, input, first));
    const again = { ...first, attempt: 2 };
    const { costMicroUsd } = await attempt(bed.activities().execute_tool, input, again);
    expect(costMicroUsd).toBe(1 + 2);
  });

  test('cost their bound when they were lost', async () => {
    bed = await bedWith((_, ctx) => ctx.cost(4), BOUND);
    const info = { ...effect(), attempt: 2 };
    expect((await execute(bed, info, COST)).costMicroUsd).toBe(104);
  });

  test('leave no room for another one beyond what was reserved', async () => {
    let started = 0;
    bed = await bedWith(() => (started += 1), BOUND);
    const { outcome, costMicroUsd } = await execute(bed, { ...effect(), attempt: 3 }, COST);
    expect(outcome).toMatchObject({ kind: 'error', code: 'budget_exceeded' });
    expect({ costMicroUsd, started }).toEqual({ costMicroUsd: 200, started: 0 });
  });
});
