/**
 * Continue-as-new at every point of runs that use what a run can do: whatever it has under way, waits for
 * or remembers, the run ends as it would have without.
 */
import { pendingAsks } from '../../../core/step/open-work.js';
import type { AskKind } from '../../../core/state/ask-kinds.js';
import type { Json } from '../../../core/json/json.js';
import { from } from '../plan.js';
import {
  call,
  calls,
  decisionOn,
  exhaustedBy,
  failure,
  flows,
  says,
  tool,
  TOOLBOX,
  usage,
  withReply,
  type Script,
} from '../script.js';
import {
  askOf,
  codesOf,
  createShell,
  crossSegment,
  executedOf,
  ofType,
  resultOf,
  send,
  tick,
  transitionsOf,
  type Shell,
} from '../shell.js';
import { lettersOf } from '../transcript.js';

interface Case {
  readonly script: Script;
  /** What people do whenever the run rests; without it, they approve what they are asked. */
  readonly people?: (shell: Shell, rests: number) => void;
  /** Kinds of questions that must come up, so that a case proves what it is for. */
  readonly asks?: readonly AskKind[];
}

const HOUR = 3_600_000;
const STEPS_MAX = 200;

const refund = (id: string, amount = 5) => call(id, 'issue_refund', { order: 'O-1', amount });
const order = (id: string) => call(id, 'read_order', { orderId: id });

function decide(shell: Shell, changes: Parameters<typeof decisionOn>[1]): void {
  const [ask] = pendingAsks(shell.run);
  if (ask === undefined) throw new Error('nobody is asked');
  const decision = decisionOn(askOf(shell), { decidedAt: shell.now, ...changes });
  send(shell, { type: 'decision', decision });
}

function record(name: string, quorum: number) {
  const shape = { effect: 'financial', idempotency: 'keyed' } as const;
  return tool(name, { ...shape, approval: { roles: [], quorum } });
}

const IDS = ['a', 'b', 'c', 'd', 'e', 'f'];
const SPARE = 'scripted/spare';

const CASES: { readonly [name: string]: Case } = {
  'an approval by two people, one of whom has voted': {
    script: {
      tools: [record('issue_refund', 2)],
      model: [calls(refund('a')), says('done')],
    },
    people: (shell, rests) => decide(shell, { by: `person ${rests}` }),
    asks: ['approval'],
  },
  'an approval with a correction': {
    script: { model: [calls(refund('a', 50)), says('done')] },
    people: (shell) => decide(shell, { decision: 'modify', args: { order: 'O-1', amount: 40 } }),
    asks: ['approval'],
  },
  'a standing grant and its uses': {
    script: {
      settings: { allowStandingGrants: true },
      model: [calls(refund('a')), calls(refund('b')), calls(refund('c')), says('done')],
    },
    people: (shell) =>
      decide(shell, {
        grant: {
          matcher: { tool: 'issue_refund', when: [{ path: 'amount', lte: 50 }] },
          uses: 1,
          expiresInMs: HOUR,
        },
      }),
    asks: ['approval'],
  },
  'an outcome that nobody knows, and what a person says of it': {
    script: {
      policy: [{ tool: 'send_email', decision: 'allow' }],
      model: [calls(call('a', 'send_email', { text: 'hi' })), says('done')],
      outcomes: { send_email: [{ ambiguous: 'connection reset' }, { ok: 'sent' }] },
      findings: [{ kind: 'unknown', message: 'no probe' }],
    },
    people: (shell) => decide(shell, { decision: 'not_happened' }),
    asks: ['outcome'],
  },
  'a budget that is used up and raised': {
    script: {
      budget: { maxTurns: 1 },
      settings: { onBudget: 'ask' },
      model: [calls(order('a')), calls(order('b')), says('done')],
    },
    asks: ['budget'],
  },
  'a question of the model to a person': {
    script: { model: [calls(call('a', 'ask_customer', { question: 'Is it?' })), says('done')] },
    people: (shell) =>
      send(shell, { type: 'input_provided', askId: askOf(shell).askId, value: 'yes', by: 'cora' }),
    asks: ['input'],
  },
  'a conversation of several messages': {
    script: {
      settings: { afterAnswer: 'await_user' },
      model: [says('one'), calls(order('a')), says('two')],
    },
    people: (shell, rests) =>
      rests === 1
        ? send(shell, { type: 'user_message', text: 'and then?', id: 'm1' })
        : send(shell, { type: 'close' }),
    asks: ['user_message'],
  },
  'a paused run that its user resumes': {
    script: {
      settings: { interruptMode: 'pause' },
      model: [calls(refund('a')), calls(order('b')), says('done')],
    },
    people: (shell, rests) =>
      rests === 1
        ? send(shell, { type: 'interrupt' })
        : send(shell, { type: 'user_message', text: 'go on', id: 'm1' }),
    asks: ['approval', 'user_message'],
  },
  'calls that use the results of others': {
    script: {
      settings: { toolExecution: 'dataflow' },
      model: [
        calls(
          flows('y', 'read_delivery_status', { orderId: from('p.id') }),
          flows('x', 'read_order', { orderId: '1', _outputPath: 'state.p' }),
          flows('z', 'issue_refund', { order: from('p.id'), amount: 5 }),
        ),
        says('done'),
      ],
      outcomes: { read_order: [{ ok: { id: 'O-7' } as Json, delayMs: 20 }] },
    },
    asks: ['approval'],
  },
  'several calls at once, one of which fails': {
    script: {
      settings: { toolExecution: 'batched' },
      model: [calls(order('a'), order('b'), refund('c')), says('done')],
      outcomes: { read_order: [{ ok: 'fine', delayMs: 5 }, { error: 'down' }] },
    },
    asks: ['approval'],
  },
  'a reactive compaction after a reply that was cut off': {
    script: {
      promptBytes: 200_000,
      model: [
        withReply(calls(order('a')), usage(100_000, 100)),
        says('part', { stop: 'max_tokens', ...usage(170_000, 100) }),
        says('all of it'),
      ],
    },
  },
  'the guard against compactions in a circle': {
    script: {
      promptBytes: 200_000,
      model: [
        failure('PromptTooLong', { details: { lostCostMicroUsd: 0 } }),
        failure('PromptTooLong', { details: { lostCostMicroUsd: 0 } }),
        says('never'),
      ],
    },
  },
  'a fallback model that stays': {
    script: {
      routes: { [SPARE]: {} },
      settings: { fallbackModel: SPARE, fallbackSticky: 'session' },
      model: [exhaustedBy('Overloaded'), calls(order('a')), calls(order('b')), says('done')],
    },
  },
  'hooks before, between and after': {
    script: {
      hookNames: {
        SessionStart: ['greet'],
        PreToolUse: ['look'],
        PostToolUse: ['note'],
        PostSampling: ['whisper'],
        Stop: ['doubt'],
        SessionEnd: ['bye'],
      },
      hooks: {
        greet: [{ additionalContext: 'It is Monday.' }],
        look: [{ decision: 'ask', message: 'sure?' }],
        whisper: [{ systemMessages: ['be quick'] }],
        doubt: [{ blockingErrors: ['say more'] }],
      },
      model: [calls(order('a')), says('short'), says('a longer answer')],
    },
    asks: ['approval'],
  },
  'the same call again and again': {
    script: { model: IDS.map((id) => calls(call(id, 'read_order'))) },
  },
  'tools that keep failing': {
    script: {
      tools: TOOLBOX,
      model: IDS.map((id) => calls(order(id))),
      outcomes: { read_order: [{ error: 'down', code: 'tool_unavailable' }] },
    },
  },
};

interface Played {
  readonly shell: Shell;
  readonly asked: ReadonlySet<AskKind>;
  readonly steps: number;
  readonly crossed: boolean;
}

/** Plays a case to its end; `crossAt`: the activation after which its segment ends. */
function play({ script, people = approve }: Case, crossAt?: number): Played {
  const shell = createShell(script);
  const asked = new Set<AskKind>();
  let rests = 0;
  let crossed = false;
  for (let step = 0; step < STEPS_MAX; step += 1) {
    if (step === crossAt && shell.run.final === undefined) crossed = cross(shell);
    if (shell.run.final !== undefined) return { shell, asked, steps: step, crossed };
    for (const { kind } of pendingAsks(shell.run)) asked.add(kind);
    if (tick(shell)) continue;
    rests += 1;
    people(shell, rests);
  }
  throw new Error('this never ends');
}

function approve(shell: Shell): void {
  decide(shell, {});
}

/** False when the run ends before its segment does. */
function cross(shell: Shell): boolean {
  try {
    crossSegment(shell);
    return true;
  } catch (error) {
    if (shell.run.final?.kind === 'result') return false;
    throw error;
  }
}

/** All that must be the same with and without the end of a segment. */
function essenceOf({ shell }: Played) {
  const { counters, trace: _, ...result } = resultOf(shell);
  const { activeMs: __, waitingMs: ___, ...counted } = counters;
  return {
    result,
    counted,
    executed: executedOf(shell),
    codes: codesOf(shell),
    letters: lettersOf(shell.transcript),
    transitions: transitionsOf(shell).filter((one) => one !== 'continued_as_new'),
    permissions: ofType(shell, 'permission').map(({ decision, rule }) => `${decision} ${rule}`),
    answers: ofType(shell, 'approval_resolved').map(({ outcome, by }) => ({ outcome, by })),
    // In any order: what is under way together may end in another one.
    events: shell.events
      .filter((event) => event.type !== 'transition' || event.reason !== 'continued_as_new')
      .map(({ type }) => type)
      .toSorted(),
  };
}

describe('a segment may end anywhere', () => {
  test.each(Object.entries(CASES))('%s', (_name, one) => {
    const straight = play(one);
    expect([...straight.asked]).toEqual(expect.arrayContaining([...(one.asks ?? [])]));
    const expected = essenceOf(straight);
    let crossings = 0;
    for (let at = 0; at < straight.steps; at += 1) {
      const played = play(one, at);
      if (played.crossed) crossings += 1;
      expect({ at, ...essenceOf(played) }).toEqual({ at, ...expected });
    }
    expect(crossings).toBeGreaterThan(1);
  });
});
