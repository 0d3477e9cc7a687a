/** Properties of random plans: whatever calls say about each other, a turn ends and keeps the rules. */
import fc from 'fast-check';
import type { Json } from '../../../core/json/json.js';
import { viewOfRun } from '../../../core/loop/run-result.js';
import {
  calls,
  decisionOn,
  flows,
  says,
  type ModelEntry,
  type Script,
  type ToolEntry,
} from '../script.js';
import { createShell, crossSegment, finish, send, tick, type Shell } from '../shell.js';
import { drawsOf } from '../../properties.js';

const PATHS = ['p', 'q', 'p.a', 'r'];
const path = fc.constantFrom(...PATHS);
const TOOLS = ['read_order', 'lookup_order', 'write_note', 'issue_refund', 'shell', 'nope'];

const meta = fc.record(
  {
    _outputPath: path,
    _dependsOn: fc.array(fc.constantFrom('c0', 'c1', 'c2', 'c3', 'c4', 'gone'), { maxLength: 2 }),
    _when: fc.oneof(
      path.map((one) => ({ path: one, exists: false })),
      path.map((one) => ({ path: one, equals: 1 })),
    ),
    ref: path.map((one) => ({ $from: `state.${one}` })),
  },
  { requiredKeys: [] },
);

const plan = fc
  .array(fc.tuple(fc.constantFrom(...TOOLS), meta), { minLength: 1, maxLength: 5 })
  .map((proposals) =>
    calls(
      ...proposals.map(([name, said], index) => {
        const args: { [key: string]: Json } = { orderId: '1', ...said };
        return flows(`c${index}`, name, args);
      }),
    ),
  );

const entry = fc.constantFrom<ToolEntry>(
  { ok: 1 },
  { ok: { a: 1 }, delayMs: 40 },
  { ok: 'text', delayMs: 7 },
  { error: 'no', delayMs: 20 },
  { ambiguous: 'reset', delayMs: 5 },
);
const entries = fc.array(entry, { minLength: 1, maxLength: 4 });

const script: fc.Arbitrary<Script> = fc.record({
  model: fc.array(plan, { minLength: 1, maxLength: 3 }).map((plans) => [...plans, says('done')]),
  outcomes: fc.record({
    read_order: entries,
    lookup_order: entries,
    write_note: entries,
    issue_refund: entries,
    shell: entries,
  }),
  findings: fc.array(
    fc.constantFrom({ kind: 'unknown', message: '?' } as const, { kind: 'not_happened' } as const),
    { minLength: 1, maxLength: 3 },
  ),
  settings: fc.record({
    toolExecution: fc.constant('dataflow'),
    onOutcomeUnknown: fc.constantFrom('ask', 'observe', 'stop'),
    onApprovalTimeout: fc.constantFrom('reject', 'stop'),
  }),
  budget: fc.record({
    maxParallelToolCalls: fc.integer({ min: 1, max: 4 }),
    maxToolCalls: fc.constantFrom(3, 50),
    maxInvalidProposals: fc.constant('unlimited'),
    maxConsecutiveToolErrors: fc.constant('unlimited'),
  }),
});

type Action = (shell: Shell) => void;

/** A person decides on the ask at this place, if there is one. */
function decides(place: number, decision: 'approve' | 'reject' | 'not_happened'): Action {
  return (shell) => {
    const ask = viewOfRun(shell.run).asks[place];
    if (ask !== undefined) {
      const decided = decisionOn(ask, { decision, decidedAt: shell.now });
      send(shell, { type: 'decision', decision: decided });
    }
  };
}

function crosses(shell: Shell): void {
  if (shell.run.stopping !== undefined || shell.run.interrupt !== undefined) return;
  try {
    crossSegment(shell);
  } catch (error) {
    if (shell.run.final?.kind !== 'result') throw error;
  }
}

const actions = fc.array(
  fc.oneof(
    { weight: 8, arbitrary: fc.constant<Action>((shell) => void tick(shell)) },
    {
      weight: 4,
      arbitrary: fc.constantFrom(
        decides(0, 'approve'),
        decides(1, 'approve'),
        decides(0, 'reject'),
        decides(0, 'not_happened'),
      ),
    },
    {
      weight: 1,
      arbitrary: fc.constantFrom<Action>(crosses, (shell) => send(shell, { type: 'interrupt' })),
    },
  ),
  { maxLength: 40 },
);

/** The model activity takes it off the arguments in dataflow mode only. */
function withoutFlow(one: ModelEntry): ModelEntry {
  if (!('reply' in one)) return one;
  const plain = one.reply.calls.map(({ flow: _flow, ...rest }) => rest);
  return { ...one, reply: { ...one.reply, calls: plain } };
}

test.each(['serial', 'batched', 'dataflow'] as const)(
  'every %s plan comes to an end with one result for each call',
  (toolExecution) => {
    fc.assert(
      fc.property(script, actions, (what, during) => {
        const model = toolExecution === 'dataflow' ? what.model : what.model.map(withoutFlow);
        const settings = { ...what.settings, toolExecution };
        const shell = createShell({ ...what, model, settings });
        for (const action of during) if (shell.run.final === undefined) action(shell);
        finish(shell);
        expect(shell.run.inflight).toEqual({});
        expect(shell.run.asks.filter((ask) => ask.outcome === 'pending')).toEqual([]);
      }),
      drawsOf(120, 20_260_102),
    );
  },
  60_000,
);
