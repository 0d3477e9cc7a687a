/** What the plan of a fork says of calls of which nothing is in flight, and about which a live fork asks. */
import type { Call, CallFact } from '../../core/state/call.js';
import type { ToolOutcome } from '../../core/state/effect.js';
import type { Input } from '../../core/state/input.js';
import type { OpenRun } from '../../core/state/run.js';
import type { ToolEffect } from '../../core/state/tool.js';
import { baseOf } from '../../core/step/open-work.js';
import { foldOf, type RunFold } from '../../recording/fold.js';
import { outcomeReader } from '../../recording/fork-outcomes.js';
import { forkPlanner } from '../../recording/fork-plan.js';
import type { Bundle } from '../../replay/bundle.js';
import { stored } from '../replay/setup.js';

let approved: Bundle;
let fold: RunFold;
beforeAll(async () => {
  approved = await stored('approved');
  const folded = foldOf(approved);
  if (folded.kind === 'goal') throw new Error('the bundle is of a goal');
  fold = folded;
});

interface Standing {
  readonly change: (call: Extract<Call, { stage: 'executing' }>) => Call;
  /** The record ends before it says how the call ended. */
  readonly untold?: true;
  readonly effect?: ToolEffect;
  /** With which its second attempt is back in the next step. */
  readonly next?: ToolOutcome;
}

/** What is in flight by the plan, had the call stood so after the step that handed it over. */
function inFlight({ change, untold, effect = 'financial', next }: Standing) {
  const { step } = fold.steps.find(({ effects }) =>
    effects.some(({ kind }) => kind === 'execute_tool'),
  )!;
  const moment = fold.at(step);
  const after = moment.after as OpenRun;
  const { turn, frozen } = after;
  const planner = forkPlanner(step);
  for (const event of approved.events) {
    if (untold === undefined || event.type !== 'tool_finished') planner.event(event);
  }
  const standing = (as: Standing['change']): OpenRun => ({
    ...after,
    inflight: {},
    frozen: { ...frozen, tools: frozen.tools.map((tool) => ({ ...tool, effect })) },
    turn: {
      ...turn!,
      calls: turn!.calls.map((call) => (call.stage === 'executing' ? as(call) : call)),
    },
  });
  planner.moment({ ...moment, after: standing(change) });
  if (next !== undefined) {
    const { given, ...following } = fold.at(step + 1);
    const before = {
      ...standing((call) => ({ ...call, inDoubt: true })),
      inflight: after.inflight,
    };
    const back = (input: Input) =>
      input.type === 'tool_returned'
        ? { ...input, output: { ...input.output, outcome: next } }
        : input;
    planner.moment({ ...following, before, given: given.map(back) });
  }
  return planner.plan({ steps: fold.steps.length, divergences: [] }).inFlight;
}

const between: Standing['change'] = (call) => {
  const { grant } = call;
  return { ...baseOf(call), attempt: 2, inDoubt: true, stage: 'granted', grant };
};

function back(fact: CallFact, inDoubt?: true): Standing['change'] {
  return (call) => {
    const { grant, startedAt } = call;
    const doubt = inDoubt !== undefined && { inDoubt };
    return { ...baseOf(call), ...doubt, stage: 'returned', grant, startedAt, durationMs: 1, fact };
  };
}

const LISTED = {
  /** The key of the newest attempt. */
  effectId: expect.stringMatching(/:\d+$/) as string,
  kind: 'execute_tool',
  tool: 'issue_refund',
  callId: expect.any(String) as string,
};

test.each([
  ['the record tells later how it ended', undefined, 'recorded_outcome'],
  ['nothing tells how it ended', true, 'outcome_unknown'],
] as const)('a call between two attempts is listed: %s', (_, untold, becomes) => {
  const standing = { change: between, ...(untold !== undefined && { untold }) };
  expect(inFlight(standing)).toEqual([{ ...LISTED, becomes }]);
});

test.each<[string, ToolOutcome, string]>([
  ['an error', { kind: 'error', code: 'execution_error', message: 'no' }, 'outcome_unknown'],
  ['a result', { kind: 'ok', content: { text: 'paid' } }, 'recorded_outcome'],
])(
  'a call whose second attempt is back with %s, of which the record knows an end: %p',
  (_, next, becomes) => {
    expect(inFlight({ change: between, next })).toEqual([{ ...LISTED, becomes }]);
  },
);

const failure = (more: object): CallFact =>
  ({
    kind: 'failure',
    doing: 'execute',
    failure: { code: 'Internal', message: 'lost', timedOut: true, ...more },
    outOfTime: false,
  }) as CallFact;

const outcome = (one: ToolOutcome): CallFact => ({ kind: 'outcome', outcome: one });

const ERROR = outcome({ kind: 'error', code: 'execution_error', message: 'no' });

test.each<[string, CallFact, inDoubt: true | undefined]>([
  ['a loss', failure({}), undefined],
  ['that no worker took it', failure({ unserved: true }), undefined],
  ['an answer that leaves open', outcome({ kind: 'ambiguous', message: '' }), undefined],
  ['the advice to repeat it', { kind: 'finding', finding: { kind: 'repeat' } }, undefined],
  ['an error of its second attempt alone', ERROR, true],
])('a call that is back with %s is listed, and a person will be asked', (_, fact, inDoubt) => {
  expect(inFlight({ change: back(fact, inDoubt) })).toEqual([
    { ...LISTED, becomes: 'outcome_unknown' },
  ]);
});

test.each<[string, CallFact]>([
  ['its result', outcome({ kind: 'ok', content: { text: 'paid' } })],
  ['an error', ERROR],
  ['the word that nothing happened', { kind: 'finding', finding: { kind: 'not_happened' } }],
])('a call that is back with %s is not listed', (_, fact) => {
  expect(inFlight({ change: back(fact) })).toEqual([]);
});

test('a read that is back with a loss is not listed: nobody is asked about it', () => {
  expect(inFlight({ change: back(failure({})), effect: 'read' })).toEqual([]);
});

/** What a fork takes over when the call comes back in the next step as refused before its code ran. */
function takenOver(more: object, inDoubt?: true): readonly CallFact[] {
  const { step } = fold.steps.find(({ effects }) =>
    effects.some(({ kind }) => kind === 'execute_tool'),
  )!;
  const { before, given } = fold.at(step + 1);
  const refused = given.map((input): Input => {
    if (input.type !== 'tool_returned') return input;
    const { output: _, type: __, ...rest } = input;
    const refusal = { code: 'GrantInvalid', message: 'The key was revoked.', retryable: false };
    return { ...rest, type: 'effect_failed', failure: refusal, ...more } as unknown as Input;
  });
  const run = before as OpenRun;
  const calls = run.turn!.calls.map((call) => ({ ...call, ...(inDoubt && { inDoubt }) }) as Call);
  const reader = outcomeReader(fold.at(step).after);
  reader.moment({ before: { ...run, turn: { ...run.turn!, calls } }, given: refused });
  return [...reader.found.values()];
}

test('a call that was refused before its code ran is known to the plan and to the fork', () => {
  const fact = { kind: 'failure', failure: { code: 'GrantInvalid' } };
  expect(takenOver({})).toMatchObject([fact]);
  expect(takenOver({}, true)).toEqual([]);
  expect(takenOver({ failure: { code: 'Internal', message: 'lost' } })).toEqual([]);
  expect(inFlight({ change: back(failure({ code: 'GrantInvalid' })) })).toEqual([]);
});
