/** Bugs of a shop's agent: the line that is wrong, the line that mends it, a run that meets it, and what is expected. */
import { join } from 'node:path';

export interface SeededBug {
  readonly name: string;
  /** Of the agent's definition, as JavaScript. */
  readonly wrong: string;
  readonly right: string;
  readonly model: readonly object[];
  readonly expect: string;
  /** What `holdfast inspect` shows of the run that has met the bug. */
  readonly shows: string;
  /** The tools of the case run: the bug is in their code, or in what they are asked. */
  readonly isOfTool?: true;
}

const PAY = { calls: [{ id: 'pay', tool: 'refund', input: { order: 'O-1', amount: 50 } }] };
const READ = { calls: [{ id: 'read', tool: 'order', input: { order: 'O-1' } }] };
const PAY_NOTED = {
  calls: [{ id: 'pay', tool: 'refund', input: { order: 'O-1', amount: 50, note: 'broken lamp' } }],
};
const DONE = { text: 'Done.' };

/** A run of a shop without a bug. */
export const GOOD_REPLIES: readonly object[] = [READ, DONE];

function readOf(order: string): object {
  return { calls: [{ id: 'read', tool: 'order', input: { order } }] };
}

export const SEEDED_BUGS: readonly SeededBug[] = [
  {
    name: 'policy-denies-small-refunds',
    wrong:
      "policy: { rules: [{ tool: 'refund', decision: 'deny', when: { path: 'amount', gte: 5 } }] }",
    right:
      "policy: { rules: [{ tool: 'refund', decision: 'deny', when: { path: 'amount', gte: 500 } }] }",
    model: [PAY, DONE],
    expect: 'counters.deniedCalls=0',
    shows: 'The policy denies it.',
  },
  {
    name: 'policy-allows-large-refunds',
    wrong:
      "policy: { rules: [{ tool: 'refund', decision: 'deny', when: { path: 'amount', gte: 500 } }] }",
    right:
      "policy: { rules: [{ tool: 'refund', decision: 'deny', when: { path: 'amount', gte: 20 } }] }",
    model: [PAY, DONE],
    expect: 'effects.refund=0',
    shows: 'refund',
  },
  {
    name: 'policy-names-another-tool',
    wrong: "policy: { rules: [{ tool: 'refunds', decision: 'deny' }] }",
    right: "policy: { rules: [{ tool: 'refund', decision: 'deny' }] }",
    model: [PAY, DONE],
    expect: 'forbidden_tools=["refund"]',
    shows: 'refund',
  },
  {
    name: 'prompt-forgets-a-rule',
    wrong: "instructions: 'Serve the customer.'",
    right: "instructions: 'Serve the customer. Never promise a date.'",
    model: [READ, DONE],
    expect: 'model_requests=[{"contains":["Never promise a date."]}]',
    shows: 'Serve the customer.',
  },
  {
    name: 'schema-too-strict',
    wrong: 'orderPattern: /^[0-9]+$/',
    right: 'orderPattern: /^O-[0-9]+$/',
    model: [READ, DONE],
    expect: 'counters.invalidCalls=0',
    shows: 'must match pattern',
  },
  {
    name: 'tool-returns-cents-as-euros',
    wrong: 'euros: (cents) => cents',
    right: 'euros: (cents) => cents / 100',
    model: [READ, DONE],
    expect: 'results.read.contains=50,',
    shows: '5000',
    isOfTool: true,
  },
  {
    name: 'results-cut-too-short',
    wrong: 'budget: { maxToolResultChars: 20 }',
    right: 'budget: { maxToolResultChars: 2000 }',
    model: [READ, DONE],
    expect: 'results.read.contains=delivered',
    shows: '"amou',
  },
  {
    name: 'breaker-off-by-one',
    wrong: 'budget: { maxConsecutiveToolErrors: 1 }',
    right: 'budget: { maxConsecutiveToolErrors: 2 }',
    model: [readOf('O-404'), DONE],
    expect: 'counters.modelCalls=2',
    shows: 'repeated_tool_failure',
  },
  {
    name: 'continuation-lost',
    wrong: "settings: { maxTokensStrategy: 'stop' }",
    right: "settings: { maxTokensStrategy: 'auto' }",
    model: [{ text: 'The parcel', stopReason: 'max_tokens' }],
    expect: 'transitions=["max_output_tokens_recovery"]',
    shows: 'max_tokens',
  },
  {
    name: 'blank-reply-ends-the-run',
    wrong: 'budget: { emptyResponseRetries: 0 }',
    right: 'budget: { emptyResponseRetries: 1 }',
    model: [{ text: ' ' }],
    expect: 'transitions=["empty_response_retry"]',
    shows: 'empty_response',
  },
  {
    name: 'nobody-approves-refunds',
    wrong: "approval: 'never'",
    right: "approval: { roles: ['manager'] }, settings: { approvalMode: 'stop' }",
    model: [PAY, DONE],
    expect: 'effects.refund=0',
    shows: 'refund',
  },
  {
    name: 'hook-denies-everything',
    wrong: "hook: () => ({ decision: 'deny', message: 'closed' })",
    right: "hook: () => ({ decision: 'allow' })",
    model: [READ, DONE],
    expect: 'counters.deniedCalls=0',
    shows: 'closed',
  },
  {
    name: 'opening-hours-of-another-zone',
    wrong: "hook: opening('Asia/Tokyo')",
    right: "hook: opening('Europe/Berlin')",
    model: [PAY, DONE],
    expect: 'counters.deniedCalls=0',
    shows: 'closed',
  },
  {
    name: 'agent-lacks-a-tool',
    wrong: "lacks: 'refund'",
    right: 'lacks: undefined',
    model: [PAY, DONE],
    expect: 'effects.refund=1',
    shows: 'There is no tool',
    isOfTool: true,
  },
  {
    name: 'turns-off-by-one',
    wrong: 'budget: { maxTurns: 1 }',
    right: 'budget: { maxTurns: 2 }',
    model: [READ, DONE],
    expect: 'counters.modelCalls=2',
    shows: 'max_turns',
  },
  {
    name: 'timeout-in-seconds',
    wrong: 'timeoutMs: 30',
    right: 'timeoutMs: 30_000',
    model: [readOf('O-SLOW'), DONE],
    expect: 'results.read.isError=false',
    shows: 'repeated_tool_failure',
    isOfTool: true,
  },
  {
    name: 'busy-service-is-not-asked-again',
    wrong: 'budget: { maxRetriesPerToolCall: 0 }',
    right: 'budget: { maxRetriesPerToolCall: 1 }',
    model: [readOf('O-BUSY'), DONE],
    expect: 'results.read.isError=false',
    shows: 'busy',
    isOfTool: true,
  },
  {
    name: 'stop-hook-never-lets-go',
    wrong: "onStop: ({ response }) => ({ preventContinuation: response !== 'done' })",
    right: "onStop: ({ response }) => ({ preventContinuation: response === '' })",
    model: [READ, DONE],
    expect: 'stop_reason=completed',
    shows: 'stop_hook_prevented',
  },
  {
    name: 'schema-drops-a-field',
    wrong: 'fields: {}',
    right: "fields: { note: { type: 'string' } }",
    model: [PAY_NOTED, DONE],
    expect: `executed=[{"tool":"refund","input":{"order":"O-1","amount":50,"note":"broken lamp"}}]`,
    shows: 'refund',
    isOfTool: true,
  },
  {
    name: 'hook-pays-cents-as-euros',
    wrong:
      'hook: ({ tool_input: input }) => ({ updatedInput: { ...input, amount: input.amount * 100 } })',
    right: 'hook: ({ tool_input: input }) => ({ updatedInput: input })',
    model: [PAY, DONE],
    expect: 'executed=[{"tool":"refund","input":{"order":"O-1","amount":50}}]',
    shows: '5000',
    isOfTool: true,
  },
];

/** The configuration of a shop whose agent has this name, in which one line is this one. `holdfast` is the package. */
export function shopConfig(holdfast: string, name: string, line: string): string {
  return `
const { defineAgent, defineConfig, defineHook, defineTool, ToolError } = require(${JSON.stringify(join(holdfast, 'index.js'))});
const said = { ${line} };
const { orderPattern = /./, euros = (cents) => cents / 100, approval = 'never', hook, onStop, ...more } = said;
const { timeoutMs = 30_000, fields = { note: { type: 'string' } }, lacks, ...agent } = more;
const version = '${name}';
const PAID_AT = Date.UTC(2026, 2, 2, 16, 30);
function opening(timeZone) {
  return () => {
    const hour = Number(new Intl.DateTimeFormat('en', { timeZone, hour: 'numeric', hourCycle: 'h23' }).format(PAID_AT));
    return { decision: hour < 8 || hour > 18 ? 'deny' : 'allow', message: 'closed' };
  };
}
const order = defineTool({
  name: 'order', version, effect: 'read', timeoutMs,
  input: { type: 'object', properties: { order: { type: 'string', pattern: orderPattern.source } }, required: ['order'] },
  run: async ({ order }, { attempt }) => {
    if (order === 'O-404') throw new ToolError('There is no such order.');
    if (order === 'O-BUSY' && attempt === 1) throw new Error('busy');
    if (order === 'O-SLOW') await new Promise((resolve) => setTimeout(resolve, 200));
    return { order, amount: euros(5000), status: 'delivered' };
  },
});
const refund = defineTool({
  name: 'refund', version, effect: 'financial', idempotency: 'keyed', approval,
  input: { type: 'object', properties: { order: { type: 'string' }, amount: { type: 'number' }, ...fields }, required: ['order', 'amount'] },
  run: ({ order, amount }) => ({ order, paid: amount }),
});
const hooks = [
  ...(hook === undefined ? [] : [defineHook({ name: 'guard-${name}', point: 'PreToolUse', run: hook })]),
  ...(onStop === undefined ? [] : [defineHook({ name: 'last-${name}', point: 'Stop', run: onStop })]),
];
const agents = [defineAgent({
  name: '${name}', model: 'scripted/model', instructions: 'Serve the customer.',
  tools: [order, refund].filter(({ record }) => record.name !== lacks), hooks, ...agent,
})];
module.exports = { agents, config: defineConfig({ agents }) };
`;
}
