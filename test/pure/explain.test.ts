import { RULE_LISTS } from '../../core/loop/rules.js';
import { explainRun, nextActionOf } from '../../pure/explain.js';
import { call, calls, says } from '../core/script.js';
import { answer, createShell, finish, settle } from '../core/shell.js';

const words = (shell: ReturnType<typeof createShell>) =>
  explainRun(shell.events).map(({ decider, words: said }) => `${decider}: ${said}`);

describe('a run in words', () => {
  test('quotes the rule that fired from the row of the rule itself', () => {
    const shell = createShell({ model: [says('Done.')] });
    finish(shell);
    const last = explainRun(shell.events).at(-1)!;
    const row = RULE_LISTS.flatMap(({ rules }) => [...rules]).find(({ name }) => name === 'close');
    expect([last.rule, last.says]).toEqual(['close', row!.says]);
    const [unknown] = explainRun([
      { ...shell.events.at(-2)!, stamp: { ...shell.events.at(-2)!.stamp, rule: 'of tomorrow' } },
    ]);
    expect(unknown).toMatchObject({ rule: 'of tomorrow' });
    expect(unknown).not.toHaveProperty('says');
  });

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
      'settle: issue_refund succeeded',
      'asking: model call 2 answered (end_turn)',
      'gates: took the reply as the answer',
      'stop: stopped with completed, final_answer',
    ]);
    expect(nextActionOf(result, { inDoubt: [] })).toBe('Nothing: the run completed.');
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

  test('says what was done after an attempt was lost', () => {
    const shell = settle(
      createShell({
        policy: [{ tool: 'send_email', decision: 'allow' }],
        model: [calls(call('a', 'send_email')), says('done')],
        outcomes: { send_email: [{ ambiguous: 'reset' }] },
        findings: [{ kind: 'happened', source: 'probe', content: { text: 'sent' } }],
        recovery: [
          { step: 'attempt_lost', attempt: 1, claimed: true, durationMs: 1_500 },
          { step: 'claim_burned', durationMs: 31_000 },
          { step: 'probe_told', answer: 'happened', durationMs: 20 },
        ],
      }),
    );
    expect(words(shell)).toContainEqual(
      expect.stringMatching(
        /^settle: what became of send_email: nobody heard how attempt 1 ended \(.*\); its claim was taken away \(31\.0 s\); the probe says that it happened \(20 ms\)$/,
      ),
    );
  });

  test('says why a call did not run, and what to do after a stop', () => {
    const model = [calls(call('a', 'nope')), calls(call('b', 'nope')), calls(call('c', 'nope'))];
    const shell = createShell({ model });
    const result = finish(shell);
    expect(words(shell)).toContainEqual(
      expect.stringMatching(/^lookup: refused nope \(unknown_tool\)/),
    );
    expect(words(shell).at(-1)).toBe('stop: stopped with needs_human, repeated_invalid');
    expect(nextActionOf(result, { inDoubt: [] })).not.toBe('');
  });
});
