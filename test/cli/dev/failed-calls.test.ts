import { failedCalls } from '../../../cli/dev/failed-calls.js';

const input = { run: { runId: 'run_1' }, call: { tool: 'pay_bonus' } };

function hearing() {
  const lines: string[] = [];
  const failed = failedCalls((line) => void lines.push(line));
  const hear = (outcome: object) => failed.heard(input, { outcome });
  return { lines, failed, hear };
}

test('what a tool said whose effect is in doubt is told, with what comes of it, once', () => {
  const { lines, hear } = hearing();
  hear({ kind: 'ambiguous', message: 'the bank\u001B[2J is away' });
  hear({ kind: 'ambiguous', message: 'the bank\u001B[2J is away' });
  expect(lines).toEqual([
    expect.stringMatching(
      /^pay_bonus of run_1 failed: “the bank is away”\. Whether the call took effect is not known/,
    ),
  ]);
});

test('what a read threw, and a result that is none, is told', () => {
  const { lines, hear } = hearing();
  hear({ kind: 'error', code: 'execution_error', message: 'no database' });
  hear({ kind: 'error', code: 'malformed_result', message: 'not JSON' });
  expect(lines).toEqual([
    'pay_bonus of run_1 failed: “no database”.',
    'pay_bonus of run_1 failed: “not JSON”.',
  ]);
});

test('what no tool said is not told', () => {
  const { lines, hear } = hearing();
  hear({ kind: 'ok', content: { text: '{}' } });
  hear({ kind: 'error', code: 'interrupted', message: 'Interrupted by user' });
  hear({ kind: 'ambiguous', aborted: true, message: 'Interrupted mid-execution' });
  expect(lines).toEqual([]);
});

test('an attempt that fails is told with its words', () => {
  const { lines, failed } = hearing();
  failed.threw(input, new Error('pay_bonus: no route to host'));
  failed.threw(input, new Error('pay_bonus: no route to host'));
  expect(lines).toEqual(['pay_bonus of run_1 did not end: “pay_bonus: no route to host”.']);
});
