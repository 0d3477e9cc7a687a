/** Which code serves which run of `dev`: what each looks for, finds and keeps. */
import { ApplicationFailure } from '@temporalio/common';
import { codesOfRuns, type CodesOfRuns, type Work } from '../../../cli/dev/codes-of-runs.js';

const run = (runId: string) => ({ tenant: 'default', runId, traceId: 'trace' });
const calls = (runId: string): Work => ({ kind: 'execute_tool', input: { run: run(runId) } });
const opens = (runId: string, parent?: 'goal'): Work => ({
  kind: 'open_run',
  input: {
    run: run(runId),
    start: {
      v: 1,
      agent: 'a',
      tenant: 'default',
      task: { goal: '.' },
      ...(parent && { parent: { kind: parent, id: 'goal', n: 1, digest: '' } }),
    },
  },
});

/** Which code did it, and which were asked before. */
async function asked(
  codes: CodesOfRuns<string>,
  work: Work,
  having: readonly string[],
): Promise<readonly string[]> {
  const asked: string[] = [];
  const attempt = (code: string): Promise<void> => {
    asked.push(code);
    if (having.includes(code)) return Promise.resolve();
    return Promise.reject(ApplicationFailure.create({ type: 'NotServed', message: code }));
  };
  await codes.perform(work, attempt).catch(() => asked.push('nobody'));
  return asked;
}

test('a run keeps its code; what that lacks is found in the newest that has it, and stays there', async () => {
  const codes = codesOfRuns('first');
  expect(await asked(codes, calls('r'), [])).toEqual(['first', 'nobody']);
  codes.replace('second');
  codes.replace('third');
  // Nobody uses the second.
  expect(codes.served()).toEqual(['third', 'first']);
  expect(await asked(codes, calls('r:a1'), ['third'])).toEqual(['first', 'third']);
  codes.replace('fourth');
  expect(codes.served()).toEqual(['fourth', 'third', 'first']);
  expect(await asked(codes, calls('r'), ['fourth', 'third'])).toEqual(['first', 'third']);
  expect(await asked(codes, calls('r'), ['first', 'fourth'])).toEqual(['first']);
  await asked(codes, { kind: 'close_run', input: { run: run('r') } }, ['first']);
  expect(codes.runsUnderWay()).toBe(0);
  codes.replace('fifth');
  expect(codes.served()).toEqual(['fifth']);
});

test('a run that nobody under way has started begins with no older code than it met', async () => {
  const codes = codesOfRuns('first');
  await asked(codes, calls('earlier'), ['first']);
  codes.replace('second');
  expect(await asked(codes, opens('new'), ['first'])).toEqual(['second', 'nobody']);
  expect(await asked(codes, opens('goal:c1', 'goal'), ['first'])).toEqual(['second', 'first']);
  codes.replace('third');
  expect(await asked(codes, opens('new'), ['third'])).toEqual(['second', 'third']);
  // It began with that.
  expect(await asked(codes, calls('new'), ['second', 'third'])).toEqual(['third']);
});

test('a failure that is no lack of code is the answer', async () => {
  const codes = codesOfRuns('first');
  await asked(codes, calls('r'), ['first']);
  codes.replace('second');
  const attempt = (code: string): Promise<void> => Promise.reject(new Error(`${code} failed`));
  await expect(codes.perform(calls('r'), attempt)).rejects.toThrow('first failed');
});
