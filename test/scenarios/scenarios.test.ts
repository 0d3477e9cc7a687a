/**
 * Every scenario and rule case of this folder in the simulation: it passes, and of the messages of its run holds what
 * holds of those of any run.
 */
import { collectFixtures } from '../../evaluation/collect.js';
import type { Engine } from '../../evaluation/engine.js';
import { evaluate } from '../../evaluation/evaluate.js';
import type { Fixture } from '../../evaluation/fixture.js';
import { createSimulationEngine } from '../../evaluation/simulation/index.js';
import type { RunEvent } from '../../core/state/event.js';
import { previewOf } from '../../core/json/json.js';
import type { SDKMessage, SDKResultMessage } from '../../pure/sdk/message.js';
import { messageOf } from '../../pure/sdk/event-message.js';
import { TRANSITIONS } from '../../pure/transitions.js';
import { advanceProjection, startProjection } from '../../pure/sdk/projection.js';
import { SEED } from '../seed.js';

interface Told {
  readonly caseId: string;
  readonly events: readonly RunEvent[];
  readonly messages: readonly SDKMessage[];
  readonly result: SDKResultMessage;
}

const told: Told[] = [];
const failed: string[] = [];
let passed = 0;
let fixtures: readonly Fixture[];

beforeAll(async () => {
  fixtures = await collectFixtures({ paths: [__dirname], folder: __dirname });
  const engine = listenedTo(createSimulationEngine());
  try {
    for await (const one of evaluate(fixtures, { engines: [engine], seed: SEED })) {
      if (one.outcome === 'passed') passed += 1;
      else failed.push(`${one.fixture.caseId}: ${JSON.stringify(one.differences[0] ?? one.why)}`);
    }
  } finally {
    await engine.stop();
  }
}, 600_000);

/** The same engine; what is seen of each run is kept. */
function listenedTo(engine: Engine): Engine {
  return {
    ...engine,
    async run(fixture, options) {
      const run = await engine.run(fixture, options);
      const events = run.kind === 'observed' ? run.observed.events : [];
      const messages = messagesOf(events);
      const result = messages.at(-1);
      // A goal tells its own story; that of each cycle is a run's.
      if (fixture.goal === undefined && result?.type === 'result') {
        told.push({ caseId: fixture.caseId, events, messages, result });
      }
      return run;
    },
  };
}

function messagesOf(events: readonly RunEvent[]): readonly SDKMessage[] {
  let state = startProjection({ cwd: '', permissionMode: 'default' });
  return events.flatMap((event) => {
    state = advanceProjection(state, event);
    return messageOf(state, event, previewOf) ?? [];
  });
}

function fixtureCycles({ cycles, completed, stop_reason }: Fixture['expected']): unknown {
  return cycles ?? completed ?? stop_reason;
}

function wrong(isRight: (one: Told) => boolean): readonly string[] {
  return told.filter((one) => !isRight(one)).map(({ caseId }) => caseId);
}

const count = (items: readonly { readonly type: string }[], type: string) =>
  items.filter((item) => item.type === type).length;

test('each passes, and none is skipped', () => {
  expect(failed).toEqual([]);
  expect(passed).toBe(fixtures.length);
  expect(passed).toBeGreaterThan(280);
});

test('each says its answer or that there is none, its cost and the order of its events', () => {
  const silent = fixtures.flatMap(({ caseId, expected, goal }) => {
    // A start that is refused has no run: nothing is answered, paid or told.
    if (expected.start_error !== undefined) return [];
    const { answer, cost_micro_usd, events } = expected;
    const told = { cost_micro_usd, events: events?.find((event) => 'event' in event) };
    // What a goal answers is what it did; a cost that failures or cuts decide is nobody's to foretell.
    const says =
      goal === undefined
        ? { answer, ...told }
        : { events: told.events, cycles: fixtureCycles(expected) };
    return Object.entries(says).flatMap(([key, value]) =>
      value === undefined ? [`${caseId}: ${key}`] : [],
    );
  });
  expect(silent).toEqual([]);
});

test('each tells its run in messages', () => {
  expect(told.length).toBeGreaterThan(280);
});

test('init is first and result last, each exactly once', () => {
  const isInit = (message: SDKMessage) => message.type === 'system' && message.subtype === 'init';
  expect(
    wrong(
      ({ messages }) =>
        isInit(messages[0]!) &&
        messages.filter(isInit).length === 1 &&
        messages.at(-1)!.type === 'result' &&
        count(messages, 'result') === 1,
    ),
  ).toEqual([]);
});

test('each reply and each results message of the run is told, in order', () => {
  expect(
    wrong(
      ({ events, messages }) =>
        count(messages, 'assistant') === count(events, 'model_response') &&
        count(messages, 'user') ===
          count(events, 'tool_results_message') + count(events, 'user_message') &&
        messages.every(({ seq }, index) => index === 0 || seq > messages[index - 1]!.seq),
    ),
  ).toEqual([]);
});

test('every call that a model made has its result in the next user message', () => {
  expect(
    wrong(({ messages }) => {
      let open: string[] = [];
      for (const message of messages) {
        if (message.type === 'assistant') {
          open = message.message.content.flatMap((block) =>
            block.type === 'tool_use' ? [block.id] : [],
          );
        }
        if (message.type !== 'user' || typeof message.message.content === 'string') continue;
        const ids = message.message.content.map((block) => block.tool_use_id);
        if (ids.join() !== open.join()) return false;
        open = [];
      }
      return true;
    }),
  ).toEqual([]);
});

test('as many calls are listed as denied as the run counted', () => {
  expect(
    wrong(
      ({ result }) =>
        result.permission_denials.length === result.run_result.counters.deniedCalls &&
        result.permission_denials.every(({ tool_input }) => tool_input !== null),
    ),
  ).toEqual([]);
});

test('usage by model never exceeds that of the run, and only completed runs succeed', () => {
  expect(
    wrong(({ result }) => {
      const models = Object.values(result.modelUsage);
      const output = models.reduce((sum, { outputTokens }) => sum + outputTokens, 0);
      return (
        output <= result.usage.output_tokens &&
        (result.subtype === 'success') === result.run_result.completed &&
        result.duration_api_ms <= result.duration_ms
      );
    }),
  ).toEqual([]);
});

test('transitions change the turn count exactly as docs/reference/semantics.md says', () => {
  const seen = new Map<string, Set<number>>();
  for (const { events } of told) {
    let before = 0;
    for (const { type, stamp, ...event } of events) {
      if (type === 'transition') {
        const { reason } = event as { reason: string };
        seen.set(reason, (seen.get(reason) ?? new Set()).add(stamp.turn - before));
      }
      before = stamp.turn;
    }
  }
  const expected = Object.entries(TRANSITIONS).map(
    ([reason, { turnCount }]) => [reason, [turnCount === '+1' ? 1 : 0]] as const,
  );
  expect(Object.fromEntries([...seen].map(([reason, steps]) => [reason, [...steps]]))).toEqual(
    Object.fromEntries(expected),
  );
});
