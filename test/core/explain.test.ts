import { explainRun, nextActionOf } from '../../core/explain.js';
import { call, calls, says } from './script.js';
import { answer, createShell, finish, settle } from './shell.js';

const words = (shell: ReturnType<typeof createShell>) =>
  explainRun(shell.events).map(({ decider, words: said }) => `${decider}: ${said}`);

describe('a run in words', () => {
  test('names the station that decided each step of a call', () => {
    const model = [calls(call('a', 'issue_refund', { order: '1' })), says('Paid.')];
    const shell = settle(createShell({ model }));
    answer(shell);
    const result = finish(shell);
    expect(words(shell)).toEqual([
      'opening: began with agent case on scripted/model',
      'asking: model call 1 proposed issue_refund (tool_use)',
      'permit: wants a person to decide on issue_refund by tool',
      'approve: asked a person (approval) about issue_refund',
      expect.stringMatching(/^approve: the approval of issue_refund is approved by /),
      'grant: handed issue_refund to its executor under key case:0',
      'settle: issue_refund succeeded after 1 attempts',
      'asking: model call 2 answered (end_turn)',
      'gates: took the reply as the answer',
      'stop: stopped with completed, final_answer',
    ]);
    expect(nextActionOf(result)).toBe('Nothing: the run completed.');
  });

  test('names the rule that fired for each decision, and none for what was told from outside', () => {
    const model = [calls(call('a', 'issue_refund', { order: '1' })), says('Paid.')];
    const shell = settle(createShell({ model }));
    answer(shell);
    finish(shell);
    const rules = explainRun(shell.events).map(({ rule }) => rule);
    expect(rules).toEqual([
      'arrive',
      undefined,
      'dispatch',
      'dispatch',
      'dispatch',
      'dispatch',
      'dispatch',
      undefined,
      'completion gates',
      'close',
    ]);
  });

  test('says why a call did not run, and what to do after a stop', () => {
    const model = [calls(call('a', 'nope')), calls(call('b', 'nope')), calls(call('c', 'nope'))];
    const shell = createShell({ model });
    const result = finish(shell);
    expect(words(shell)).toContainEqual(
      expect.stringMatching(/^lookup: refused nope \(unknown_tool\)/),
    );
    expect(words(shell).at(-1)).toBe('stop: stopped with needs_human, repeated_invalid');
    expect(nextActionOf(result)).not.toBe('');
  });
});
