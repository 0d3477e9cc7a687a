import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { HoldfastError } from '../../core/state/errors';
import { consentsBefore, saysYes } from '../../lab/proving/consent';
import {
  matchOutcomes,
  parseExpectedOutcomes,
  readExpectedOutcomes,
} from '../../lab/proving/expected-outcomes';
import { replayRecording } from '../../lab/proving/offline-replay';
import {
  assistantTurns,
  parseRecording,
  readRecording,
  splitExchanges,
  type Recording,
} from '../../lab/proving/recording';
import { recordDifferences } from '../../lab/proving/record-differences';
import { loadDatabase } from '../../lab/proving/domains/database';
import { RETAIL } from '../../lab/proving/retail/tools';
import { describeWithMaterial, TAU2, TAU_BENCH } from './material';

function count(recording: Recording, role: string): number {
  return recording.runs.flatMap((run) => run.turns).filter((turn) => turn.role === role).length;
}

describeWithMaterial('the tau2 recording', () => {
  const recordingFile = join(TAU2, 'trajectories', 'retail', 'gpt-4.1_40.json');
  const expectedFile = join(TAU2, 'expected', 'retail', 'gpt-4.1_40.json');

  test('is read with every greeting dropped and every reply with its usage', () => {
    const recording = readRecording(recordingFile);
    expect(recording.format).toBe('tau2');
    expect(recording.runs).toHaveLength(40);
    expect(recording.runs.every((run) => run.droppedGreetings === 1)).toBe(true);
    expect(recording.runs.every((run) => run.turns[0]?.role === 'user')).toBe(true);
    expect(count(recording, 'user')).toBe(290);
    expect(count(recording, 'tool')).toBe(299);
    const replies = recording.runs.flatMap(assistantTurns);
    expect(replies).toHaveLength(476);
    expect(replies.reduce((sum, reply) => sum + (reply.usage?.input ?? 0), 0)).toBe(2_425_565);
    expect(replies.reduce((sum, reply) => sum + (reply.usage?.output ?? 0), 0)).toBe(30_486);
    expect(new Set(recording.runs.map((run) => run.id)).size).toBe(40);
    expect(recording.runs[0]?.systemPrompt).toContain('retail agent');
  });

  test('ends every run with words of the customer that no model answered', () => {
    for (const run of readRecording(recordingFile).runs) {
      const exchanges = splitExchanges(run);
      expect(exchanges.at(-1)?.turns).toEqual([]);
      expect(exchanges.slice(0, -1).every((exchange) => exchange.turns.length > 0)).toBe(true);
      expect(exchanges.every((exchange) => exchange.userTexts.length === 1)).toBe(true);
      expect(run.unansweredCalls).toBe(0);
    }
  });

  test('is given again by the tools: 299 outputs, 40 sets of records, 54 writes', () => {
    const recording = readRecording(recordingFile);
    const outcomes = matchOutcomes(recording, readExpectedOutcomes(expectedFile));
    const database = loadDatabase(RETAIL, [join(TAU2, 'retail', 'db.json')]);
    expect(replayRecording({ domain: RETAIL, database }, recording, outcomes)).toEqual({
      runs: 40,
      outputs: 299,
      outputsEqual: 299,
      recordsEqual: 40,
      writes: 54,
      writesEqual: true,
      writesWithoutConsent: 3,
      differences: [],
      wrongRecords: [],
    });
  });

  test('is not accepted with the expected outcomes of another recording', () => {
    const other = readExpectedOutcomes(join(TAU_BENCH, 'expected', 'gpt-4o-airline.json'));
    expect(() => matchOutcomes(readRecording(recordingFile), other)).toThrow('No expected outcome');
  });
});

describeWithMaterial('the tau-bench recording', () => {
  test('is read with repeated call ids told apart', () => {
    const recording = readRecording(join(TAU_BENCH, 'trajectories', 'gpt-4o-airline.json'));
    expect(recording.format).toBe('tau-bench');
    expect(recording.runs).toHaveLength(200);
    expect([
      count(recording, 'assistant'),
      count(recording, 'user'),
      count(recording, 'tool'),
    ]).toEqual([2_454, 1_490, 1_164]);
    expect(recording.runs.reduce((sum, run) => sum + run.repeatedCallIds, 0)).toBe(73);
    for (const run of recording.runs) {
      const ids = assistantTurns(run).flatMap((turn) => turn.calls.map((call) => call.id));
      expect(new Set(ids).size).toBe(ids.length);
    }
  });
});

const CALL = {
  id: 'c',
  name: 'get_user_details',
  arguments: { user_id: 'x' },
  requestor: 'assistant',
};

function tau2(...messages: unknown[]): unknown {
  return { simulations: [{ task_id: '1', trial: 0, messages }] };
}

describe('a recording', () => {
  const user = { role: 'user', content: 'Hi' };
  const asks = { role: 'assistant', content: null, tool_calls: [CALL] };
  const answers = { role: 'tool', id: 'c', content: 'Error: User not found', error: true };

  test('keeps the order of parallel answers and gives a repeated id a new one', () => {
    const run = parseRecording(tau2(user, asks, answers, asks, answers)).runs[0];
    const calls = run === undefined ? [] : assistantTurns(run).flatMap((turn) => turn.calls);
    expect(calls.map((call) => [call.id, call.recordedId])).toEqual([
      ['c', undefined],
      ['c~2', 'c'],
    ]);
    expect(run?.turns.filter((turn) => turn.role === 'tool').map((turn) => turn.id)).toEqual([
      'c',
      'c~2',
    ]);
  });

  test('drops what the customer does with tools of their own', () => {
    const run = parseRecording(
      tau2(
        user,
        { role: 'user', content: null, tool_calls: [CALL] },
        { ...answers, requestor: 'user' },
        {
          role: 'assistant',
          content: 'Hello',
        },
      ),
    ).runs[0];
    expect(run?.turns.map((turn) => turn.role)).toEqual(['user', 'assistant']);
    expect(run?.droppedUserTools).toBe(1);
  });

  test('of either format takes a greeting, parallel calls and texts in parts', () => {
    const parts = [
      { type: 'text', text: 'Hi' },
      { type: 'text', text: 'there' },
    ];
    const toolCalls = ['c1', 'c2'].map((id) => ({
      id,
      function: { name: 'get_user_details', arguments: '{"user_id": "x"}' },
    }));
    const answer = (id: string) => ({ role: 'tool', tool_call_id: id, content: 'Error: no' });
    const traj = [
      { role: 'developer', content: 'Be kind' },
      { role: 'assistant', content: 'Welcome' },
      { role: 'user', content: parts },
      { role: 'assistant', content: null, tool_calls: toolCalls },
      answer('c2'),
      answer('c1'),
    ];
    const run = parseRecording([{ task_id: 1, traj }]).runs[0];
    expect(run).toMatchObject({ systemPrompt: 'Be kind', droppedGreetings: 1, trial: 0 });
    expect(run?.turns).toMatchObject([
      { role: 'user', text: 'Hi\nthere' },
      { role: 'assistant', calls: [{ id: 'c1' }, { id: 'c2' }] },
      { role: 'tool', id: 'c2', error: true },
      { role: 'tool', id: 'c1', error: true },
    ]);
  });

  test('takes a call without arguments however they were written down', () => {
    const calling = (given: unknown) => ({
      role: 'assistant',
      tool_calls: [{ id: 'c', function: { name: 'list_all_airports', arguments: given } }],
    });
    for (const given of ['', '{}', 'null', null, {}]) {
      const run = parseRecording([{ task_id: 1, traj: [user, calling(given)] }]).runs[0];
      expect(run && assistantTurns(run)[0]?.calls).toMatchObject([{ args: {} }]);
    }
  });

  test('knows a refusal without its mark, a run without messages, a reply without usage', () => {
    const { runs } = parseRecording({
      simulations: [
        { task_id: 1, messages: null },
        { task_id: 1, messages: [user, asks, { ...answers, error: null }] },
        { task_id: 1, messages: [user, asks, { ...answers, error: false }] },
        { task_id: 1, messages: [user, { role: 'assistant', content: 'Hello', usage: {} }] },
      ],
    });
    expect(runs.map((run) => run.turns.length)).toEqual([0, 3, 3, 2]);
    expect(runs.flatMap((run) => run.turns.at(-1) ?? [])).toMatchObject([
      { error: true },
      { error: true },
      { text: 'Hello' },
    ]);
  });

  test('may end with a call that nobody answered', () => {
    expect(parseRecording(tau2(user, asks)).runs[0]?.unansweredCalls).toBe(1);
  });

  test('gives runs of the same task and trial different ids, without signs from outside', () => {
    const simulation = { task_id: '../a b', trial: 0, messages: [user] };
    const { runs } = parseRecording({ simulations: [simulation, simulation] });
    expect(runs.map((run) => run.id)).toEqual(['task-.._a_b-trial-0', 'task-.._a_b-trial-0-at-1']);
  });

  test.each<[string, unknown, string]>([
    ['null', null, 'Not a tau2-bench results file'],
    ['no runs', [], 'has no runs'],
    ['a list of numbers', [1], 'Not a tau-bench trajectories file'],
    ['a message without role', tau2({ content: 'x' }), 'Not a tau2-bench results file'],
    [
      'an answer to no call',
      tau2(user, answers),
      'Run 0 (task-1-trial-0): message 1 answers a call that was not made',
    ],
    ['a call left unanswered', tau2(user, asks, user), 'before the answer'],
    ['a calling greeting', tau2(asks), 'calls a tool in the greeting'],
    [
      'arguments that are not JSON',
      [
        {
          task_id: 1,
          traj: [
            user,
            {
              role: 'assistant',
              tool_calls: [{ id: 'c', function: { name: 'f', arguments: '{' } }],
            },
          ],
        },
      ],
      'arguments of f in message 1 of run 0 are not JSON',
    ],
  ])('with %s is refused with the place of the fault', (_, data, message) => {
    expect(() => parseRecording(data)).toThrow(HoldfastError);
    expect(() => parseRecording(data)).toThrow(message);
  });

  test('that is missing is named', () => {
    expect(() => readRecording('no-such-file.json')).toThrow('no-such-file.json is not a file');
  });

  test('with a fault names its file, and may have scores that only Python writes', () => {
    const folder = mkdtempSync(join(tmpdir(), 'holdfast-recording-'));
    const file = join(folder, 'runs.json');
    const traj = JSON.stringify([{ ...user, content: 'a "NaN" is no number' }]);
    writeFileSync(file, `[{"task_id": 1, "reward": NaN, "traj": ${traj}}]`);
    expect(readRecording(file).runs[0]?.turns).toMatchObject([{ text: 'a "NaN" is no number' }]);
    writeFileSync(file, `\uFEFF[{"task_id": 1, "reward": 1, "traj": ${traj}}]`);
    expect(readRecording(file).runs).toHaveLength(1);
    writeFileSync(file, '[{"task_id": 1, "traj": [{"role": "judge"}]}]');
    expect(() => readRecording(file)).toThrow(/runs\.json: Not a tau-bench .* at 0\.traj\.0\.role/);
    expect(() => readExpectedOutcomes(file)).toThrow('runs.json: Not a file of expected outcomes');
    writeFileSync(file, '[{"task_id": "NaN');
    expect(() => readRecording(file)).toThrow('is not JSON');
    rmSync(folder, { recursive: true });
  });
});

describe('expected outcomes', () => {
  test('of another shape are refused', () => {
    expect(() => parseExpectedOutcomes([{ index: 0 }])).toThrow('Not a file of expected outcomes');
  });

  test('compare records as the benchmark does', () => {
    const expected = { t: { a: { x: 1, y: [2.0] } } };
    expect(recordDifferences({ t: { a: { y: [2], x: 1 } } }, expected)).toEqual([]);
    expect(recordDifferences({ t: { a: { x: 1, y: [2], z: null } } }, expected)).toEqual([
      't a differs in z',
    ]);
  });

  test('name the records that differ, and their fields', () => {
    const expected = { orders: { '#W1': { status: 'new', sum: 1, by: 'x' }, '#W2': { sum: 2 } } };
    const seen = { orders: { '#W1': { status: 'old', sum: 2, by: 'x' } }, users: { mia: {} } };
    expect(recordDifferences(seen, expected)).toEqual([
      'orders #W1 differs in status, sum',
      'orders #W2 is not changed',
      'users mia is changed unexpectedly',
    ]);
  });

  test('say a bounded number of them', () => {
    const fields = (n: number) => Object.fromEntries(Array.from({ length: 20 }, (_, i) => [i, n]));
    const table = (n: number) =>
      Object.fromEntries(Array.from({ length: 9 }, (_, i) => [`r${i}`, fields(n)]));
    const lines = recordDifferences({ t: table(1) }, { t: table(2) });
    expect(lines).toHaveLength(6);
    expect(lines[0]).toBe('t r0 differs in 0, 1, 2, 3, 4, 5, 6, 7 and 12 more fields');
    expect(lines.at(-1)).toBe('and 4 more records differ');
  });
});

describe('consent', () => {
  test.each([
    ['Yes, please cancel it.', true],
    ['YES', true],
    ['Go ahead then.', false],
    ['That was yesterday.', false],
    ['', false],
  ])('%j says yes: %s', (text, yes) => {
    expect(saysYes(text)).toBe(yes);
  });

  test('is looked for in the last message of the customer only', () => {
    const turns = [
      { role: 'user', text: 'Yes' },
      { role: 'assistant', text: 'Done', calls: [] },
      { role: 'user', text: 'And the other one?' },
    ] as const;
    expect([consentsBefore(turns, 1), consentsBefore(turns, 3), consentsBefore(turns, 0)]).toEqual([
      true,
      false,
      false,
    ]);
  });
});
