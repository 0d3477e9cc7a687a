/** Bugs of a shop's agent: the line that is wrong, the line that mends it, a run that meets it, and what is expected. */
import { join } from 'node:path';

export interface SeededBug {
  readonly name: string;
  /** Of the agent's definition, as JavaScript. */
  readonly wrong: string;
  readonly right: string;
  readonly model: readonly object[];
  readonly expect: string;
  /** The bug is in a tool's code: the case lets it run. */
  readonly isOfTool?: true;
}

const PAY = { calls: [{ id: 'pay', tool: 'refund', input: { order: 'O-1', amount: 50 } }] };
const READ = { calls: [{ id: 'read', tool: 'order', input: { order: 'O-1' } }] };
const DONE = { text: 'Done.' };

export const SEEDED_BUGS: readonly SeededBug[] = [
  {
    name: 'policy-denies-small-refunds',
    wrong:
      "policy: { rules: [{ tool: 'refund', decision: 'deny', when: { path: 'amount', gte: 5 } }] }",
    right:
      "policy: { rules: [{ tool: 'refund', decision: 'deny', when: { path: 'amount', gte: 500 } }] }",
    model: [PAY, DONE],
    expect: 'counters.deniedCalls=0',
  },
  {
    name: 'policy-allows-large-refunds',
    wrong:
      "policy: { rules: [{ tool: 'refund', decision: 'deny', when: { path: 'amount', gte: 500 } }] }",
    right:
      "policy: { rules: [{ tool: 'refund', decision: 'deny', when: { path: 'amount', gte: 20 } }] }",
    model: [PAY, DONE],
    expect: 'effects.refund=0',
  },
  {
    name: 'policy-names-another-tool',
    wrong: "policy: { rules: [{ tool: 'refunds', decision: 'deny' }] }",
    right: "policy: { rules: [{ tool: 'refund', decision: 'deny' }] }",
    model: [PAY, DONE],
    expect: 'forbidden_tools=["refund"]',
  },
  {
    name: 'prompt-forgets-a-rule',
    wrong: "instructions: 'Serve the customer.'",
    right: "instructions: 'Serve the customer. Never promise a date.'",
    model: [READ, DONE],
    expect: 'model_requests=[{"contains":["Never promise a date."]}]',
  },
  {
    name: 'schema-too-strict',
    wrong: 'orderPattern: /^[0-9]+$/',
    right: 'orderPattern: /^O-[0-9]+$/',
    model: [READ, DONE],
    expect: 'counters.invalidCalls=0',
  },
  {
    name: 'tool-returns-cents-as-euros',
    wrong: 'euros: (cents) => cents',
    right: 'euros: (cents) => cents / 100',
    model: [READ, DONE],
    expect: 'results.read.contains=50,',
    isOfTool: true,
  },
  {
    name: 'results-cut-too-short',
    wrong: 'budget: { maxToolResultChars: 20 }',
    right: 'budget: { maxToolResultChars: 2000 }',
    model: [READ, DONE],
    expect: 'results.read.contains=delivered',
  },
  {
    name: 'breaker-off-by-one',
    wrong: 'budget: { maxConsecutiveToolErrors: 1 }',
    right: 'budget: { maxConsecutiveToolErrors: 2 }',
    model: [{ calls: [{ id: 'read', tool: 'order', input: { order: 'O-404' } }] }, DONE],
    expect: 'counters.modelCalls=2',
  },
  {
    name: 'continuation-lost',
    wrong: "settings: { maxTokensStrategy: 'stop' }",
    right: "settings: { maxTokensStrategy: 'auto' }",
    model: [{ text: 'The parcel', stopReason: 'max_tokens' }],
    expect: 'transitions=["max_output_tokens_recovery"]',
  },
  {
    name: 'blank-reply-ends-the-run',
    wrong: 'budget: { emptyResponseRetries: 0 }',
    right: 'budget: { emptyResponseRetries: 1 }',
    model: [{ text: ' ' }],
    expect: 'transitions=["empty_response_retry"]',
  },
  {
    name: 'nobody-approves-refunds',
    wrong: "approval: 'never'",
    right: "approval: { roles: ['manager'] }, settings: { approvalMode: 'stop' }",
    model: [PAY, DONE],
    expect: 'effects.refund=0',
  },
  {
    name: 'hook-denies-everything',
    wrong: "hook: () => ({ decision: 'deny', message: 'closed' })",
    right: "hook: () => ({ decision: 'allow' })",
    model: [READ, DONE],
    expect: 'counters.deniedCalls=0',
  },
];

/** The configuration of a shop, in which one line is this one. `holdfast` is the package. */
export function shopConfig(holdfast: string, line: string): string {
  return `
const { defineAgent, defineConfig, defineHook, defineTool, ToolError } = require(${JSON.stringify(join(holdfast, 'index.js'))});
const said = { ${line} };
const { orderPattern = /./, euros = (cents) => cents / 100, approval = 'never', hook, ...agent } = said;
const order = defineTool({
  name: 'order', version: '1', effect: 'read',
  input: { type: 'object', properties: { order: { type: 'string', pattern: orderPattern.source } }, required: ['order'] },
  run: ({ order }) => {
    if (order === 'O-404') throw new ToolError('There is no such order.');
    return { order, amount: euros(5000), status: 'delivered' };
  },
});
const refund = defineTool({
  name: 'refund', version: '1', effect: 'financial', idempotency: 'keyed', approval,
  input: { type: 'object', properties: { order: { type: 'string' }, amount: { type: 'number' } }, required: ['order', 'amount'] },
  run: ({ order, amount }) => ({ order, paid: amount }),
});
module.exports = { config: defineConfig({ agents: [defineAgent({
  name: 'shop', model: 'scripted/model', instructions: 'Serve the customer.', tools: [order, refund],
  ...(hook !== undefined && { hooks: [defineHook({ name: 'guard', point: 'PreToolUse', run: hook })] }),
  ...agent,
})] }) };
`;
}
