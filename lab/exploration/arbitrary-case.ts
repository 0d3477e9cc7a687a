/**
 * Random cases in the format of fixtures: agents, scripts, tool outcomes, messages from outside and deaths
 * of workers. What a case is about is left to chance; what must hold for all of them is not.
 */
import fc from 'fast-check';
import type { FixtureDocument } from '../../evaluation/format/document.js';

/** Names of tools that read, in the catalogue of cases. */
export const READS = [
  'read_order',
  'lookup_order',
  'read_delivery_status',
  'search_refund_policy',
] as const;
const WRITES = ['write_note', 'send_email', 'issue_refund', 'delete_order', 'shell'] as const;
const TOOLS = [...READS, ...WRITES, 'ask_customer', 'draft_refund_recommendation'] as const;
type ToolName = (typeof TOOLS)[number];

const word = fc.constantFrom('alpha', 'beta', 'gamma', 'delta');
/** Small numbers, so that the same call comes more than once. */
const orderId = fc.constantFrom('1', '2', '3');

function inputOf(tool: ToolName): fc.Arbitrary<unknown> {
  switch (tool) {
    case 'issue_refund':
      return fc.record({ order: orderId, amount: fc.integer({ min: -1, max: 3 }) });
    case 'write_note':
    case 'send_email':
      return fc.record({ text: word });
    case 'shell':
      return fc.record({ command: word });
    case 'ask_customer':
      return fc.record({ question: word });
    case 'search_refund_policy':
    case 'draft_refund_recommendation':
      return fc.record({ topic: word });
    default:
      return fc.oneof(
        { weight: 9, arbitrary: fc.record({ orderId }) },
        { weight: 1, arbitrary: fc.constant({}) },
      );
  }
}

const call = fc
  .record({
    tool: fc.constantFrom<ToolName | 'nope'>(...TOOLS, 'nope'),
    incomplete: fc.boolean(),
    outputPath: fc.option(fc.constantFrom('state.a', 'state.b', 'state.a.c'), { nil: undefined }),
    reads: fc.option(fc.constantFrom('state.a', 'state.b', 'state.z'), { nil: undefined }),
  })
  .chain(({ tool, incomplete, outputPath, reads }) =>
    (tool === 'nope' ? fc.constant({}) : inputOf(tool)).map((input) => ({
      tool,
      input: reads === undefined ? input : { ...(input as object), topic: { $from: reads } },
      ...(outputPath !== undefined && { outputPath }),
      ...(incomplete && { rare: true }),
    })),
  );

const usage = fc.record({
  input: fc.constantFrom(10, 1_000, 90_000, 170_000),
  output: fc.constantFrom(1, 100, 20_000),
});

const answer = fc.record(
  {
    text: fc.constantFrom('', ' ', 'The answer.', 'On it.'),
    calls: fc.array(call, { minLength: 1, maxLength: 4 }),
    stopReason: fc.constantFrom('max_tokens', 'end_turn', 'pause_turn', 'refusal', 'odd'),
    thinking: fc.constant('hm'),
    usage,
    delayMs: fc.constantFrom(1, 500, 70_000),
  },
  { requiredKeys: ['text'] },
);

const failure = fc.record({
  error: fc.oneof(
    fc.record({ status: fc.constantFrom(429, 500, 529, 401, 400, 413) }),
    fc.record({ kind: fc.constantFrom('network_timeout', 'prompt_too_long', 'connection_reset') }),
  ),
});

const reply = fc.oneof({ weight: 6, arbitrary: answer }, { weight: 1, arbitrary: failure });

const toolResult = fc.oneof(
  { weight: 5, arbitrary: fc.record({ ok: word }) },
  { weight: 1, arbitrary: fc.record({ error: word }) },
  { weight: 1, arbitrary: fc.record({ retryable_error: word }) },
  { weight: 1, arbitrary: fc.constant({ timeout: true }) },
  { weight: 1, arbitrary: fc.constant({ hang: true }) },
  { weight: 1, arbitrary: fc.record({ lost: fc.constantFrom('before', 'after') }) },
  { weight: 1, arbitrary: fc.record({ ok: word, delayMs: fc.constantFrom(5, 40_000) }) },
);

const tools = fc.dictionary(
  fc.constantFrom(...TOOLS),
  fc.record({ results: fc.array(toolResult, { minLength: 1, maxLength: 3 }) }),
  { maxKeys: 4 },
);

const limit = fc.constantFrom(0, 1, 2, 3, 6);
const budget = fc.record(
  {
    maxTurns: limit,
    maxToolCalls: limit,
    maxParallelToolCalls: fc.constantFrom(1, 2),
    maxCostMicroUsd: fc.constantFrom(0, 2_000, 200_000),
    maxOutputTokens: fc.constantFrom(0, 500, 30_000),
    timeoutMs: fc.constantFrom(1_000, 60_000),
    maxRetriesPerModelCall: fc.constantFrom(0, 1),
    maxOutputRecoveries: fc.constantFrom(0, 1),
    maxRepeatedActions: fc.constantFrom(2, 3),
  },
  { requiredKeys: [] },
);

const settings = fc.record(
  {
    toolExecution: fc.constantFrom('serial', 'batched', 'dataflow'),
    approvalMode: fc.constantFrom('wait', 'stop'),
    onApprovalTimeout: fc.constantFrom('reject', 'stop'),
    onDeny: fc.constantFrom('observe', 'refuse'),
    onInvalid: fc.constantFrom('observe', 'refuse'),
    onOutcomeUnknown: fc.constantFrom('ask', 'observe', 'stop'),
    onBudget: fc.constantFrom('stop', 'ask'),
    permissionMode: fc.constantFrom('default', 'acceptEdits', 'plan', 'dontAsk'),
    afterAnswer: fc.constantFrom('complete', 'await_user'),
    maxTokensStrategy: fc.constantFrom('auto', 'compact_first', 'continue_only', 'stop'),
    interruptMode: fc.constantFrom('stop', 'pause'),
    turnCounting: fc.constant('round_trips'),
    timeoutCounts: fc.constantFrom('active', 'wall'),
    budgetOverrunPolicy: fc.constantFrom('complete', 'stop'),
    wrapUpTurn: fc.boolean(),
    tokenBudget: fc.record({ targetOutputTokens: fc.constantFrom(200, 5_000) }),
    fallbackModel: fc.constant('fallback'),
  },
  { requiredKeys: [] },
);

const hookOutcome = {
  PreToolUse: fc.oneof(
    fc.record({ decision: fc.constantFrom('allow', 'deny', 'ask') }),
    fc.record({ updatedInput: fc.record({ orderId }) }),
    fc.record({ throws: word }),
  ),
  PostToolUse: fc.oneof(fc.constant({}), fc.record({ throws: word })),
  PostSampling: fc.record({ systemMessages: fc.array(word, { minLength: 1, maxLength: 2 }) }),
  Stop: fc.oneof(
    fc.record({ blockingErrors: fc.array(word, { minLength: 1, maxLength: 2 }) }),
    fc.record({ preventContinuation: fc.constant(true) }),
    fc.constant({}),
  ),
  SessionStart: fc.record({ additionalContext: word }),
  SessionEnd: fc.oneof(fc.constant({}), fc.record({ throws: word })),
};
const hooks = fc.record(
  {
    PreToolUse: fc.array(hookOutcome.PreToolUse, { maxLength: 3 }),
    PostToolUse: fc.array(hookOutcome.PostToolUse, { maxLength: 2 }),
    PostSampling: fc.array(hookOutcome.PostSampling, { maxLength: 2 }),
    Stop: fc.array(hookOutcome.Stop, { maxLength: 5 }),
    SessionStart: fc.array(hookOutcome.SessionStart, { maxLength: 1 }),
    SessionEnd: fc.array(hookOutcome.SessionEnd, { maxLength: 1 }),
  },
  { requiredKeys: [] },
);

const policy = fc.array(
  fc.record({
    tool: fc.constantFrom(...READS, ...WRITES, '*'),
    decision: fc.constantFrom('allow', 'deny', 'ask', 'sandbox'),
  }),
  { maxLength: 3 },
);

const pattern = fc.oneof(
  fc.record(
    {
      event: fc.constantFrom(
        'model_response',
        'permission',
        'approval_requested',
        'input_request',
        'tool_started',
        'tool_finished',
        'transition',
        'hook',
        'stop',
      ),
      n: fc.integer({ min: 1, max: 3 }),
    },
    { requiredKeys: ['event'] },
  ),
  fc.record({
    modelCall: fc.integer({ min: 1, max: 3 }),
    at: fc.constantFrom('before', 'streaming', 'after'),
  }),
  fc.constant({ start: true }),
);

const decision = fc.constantFrom('approve', 'reject', 'happened', 'not_happened', 'stop');
const action = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      resolveApproval: fc.record(
        { decision, by: fc.constantFrom('ann', 'bob'), roles: fc.constant(['manager']) },
        { requiredKeys: ['decision'] },
      ),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.constant({
      resolveApproval: { decision: 'modify', args: { order: '9', amount: 1 } },
    }),
  },
  { weight: 1, arbitrary: fc.record({ userMessage: word }) },
  { weight: 2, arbitrary: fc.constant({ killWorker: true }) },
  { weight: 1, arbitrary: fc.constant({ continueAsNew: true }) },
  { weight: 1, arbitrary: fc.constant({ interrupt: true }) },
  { weight: 1, arbitrary: fc.constant({ cancel: true }) },
  { weight: 1, arbitrary: fc.constant({ close: true }) },
  { weight: 1, arbitrary: fc.record({ advance: fc.constantFrom('1s', '2h', '8d') }) },
  { weight: 1, arbitrary: fc.record({ setPermissionMode: fc.constantFrom('default', 'plan') }) },
  { weight: 1, arbitrary: fc.constant({ setModel: 'fallback' }) },
);
const during = fc.array(
  fc.record({ on: pattern, do: action, times: fc.integer({ min: 1, max: 2 }) }),
  { maxLength: 5 },
);

type Loose = Record<string, unknown>;

/** Gives calls ids of their own, and drops what the format would refuse. */
function tidied(document: Loose): FixtureDocument {
  let calls = 0;
  const model = (document['model'] as readonly Loose[]).map((one) => {
    const proposed = one['calls'] as readonly Loose[] | undefined;
    if (proposed === undefined) return one;
    return {
      ...one,
      calls: proposed.map(({ rare, ...rest }) => {
        calls += 1;
        const incomplete = rare === true && calls % 7 === 0;
        return { id: `c${calls}`, ...rest, ...(incomplete && { incomplete }) };
      }),
    };
  });
  return { ...document, model } as unknown as FixtureDocument;
}

/** A random case; its expectation says nothing, because the invariants are checked in any case. */
export const arbitraryCase: fc.Arbitrary<FixtureDocument> = fc
  .record(
    {
      model: fc.array(reply, { minLength: 1, maxLength: 7 }),
      tools,
      budget,
      settings,
      policy,
      hooks,
      during,
    },
    { requiredKeys: ['model'] },
  )
  .map((parts) => tidied({ case_id: 'random', expected: { max_tool_calls: 1_000_000 }, ...parts }));
