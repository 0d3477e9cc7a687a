import { z } from 'zod';
import {
  agentTool,
  defineAgent,
  defineConfig,
  defineTool,
  type AgentDefinition,
} from '../../authoring/index.js';
import { HoldfastError } from '../../core/state/errors.js';

const readOrder = defineTool({
  name: 'read_order',
  version: '1',
  effect: 'read',
  input: z.object({ orderId: z.string() }),
  run: () => null,
});
const refund = defineTool({
  name: 'refund',
  version: '1',
  effect: 'financial',
  input: z.object({ orderId: z.string() }),
  run: () => null,
});

const base = { name: 'desk', model: 'anthropic/claude-sonnet-4-5', instructions: 'Help.' } as const;

function desk(agents: unknown, rest: Partial<AgentDefinition> = {}) {
  return defineAgent({
    ...base,
    tools: [readOrder, refund],
    agents: agents as NonNullable<AgentDefinition['agents']>,
    ...rest,
  });
}

test('An agent with sub-agents has the tool `agent`, and each role is an agent of its own name.', () => {
  const agent = desk({
    auditor: { description: 'Audits.', prompt: 'Audit it.', tools: ['read_order'], maxTurns: 3 },
  });
  expect(agent.tools.map(({ record }) => record.name)).toEqual(['read_order', 'refund', 'agent']);
  const declared = agent.agents?.get('auditor');
  expect(declared?.agent).toMatchObject({
    name: 'desk/auditor',
    model: base.model,
    instructions: 'Audit it.',
  });
  expect(declared?.agent.tools).toEqual([readOrder]);
  expect(declared?.budget).toEqual({ maxTurns: 3 });
  expect(agent.agentLimits).toEqual({ depth: 2, atOnce: 4, inAll: 50 });
  const config = defineConfig({ agents: [agent] });
  expect([...config.agents.keys()]).toEqual(['desk', 'desk/auditor']);
});

test('An agent without sub-agents is what it was.', () => {
  const agent = defineAgent({ ...base, tools: [readOrder] });
  expect(agent).not.toHaveProperty('agents');
  expect(agent).not.toHaveProperty('agentLimits');
});

test('An agent as a tool is offered with its own schema, and its worker serves the agent.', () => {
  const reviewer = defineAgent({ ...base, name: 'reviewer' });
  const tool = agentTool(reviewer, { input: z.object({ order: z.string() }) });
  expect(tool.record).toMatchObject({
    kind: 'subagent',
    name: 'reviewer',
    startsAgent: 'reviewer',
  });
  expect(tool.starts?.taskOf({ order: 'A1' })).toBe('{"order":"A1"}');
  const agent = defineAgent({ ...base, tools: [tool] });
  expect(agent.agents?.get('reviewer')?.agent).toBe(reviewer);
  expect(defineConfig({ agents: [agent] }).agents.get('reviewer')).toBe(reviewer);
});

test.each<[what: string, agents: unknown, message: RegExp]>([
  ['neither prompt nor agent', { a: { description: 'x' } }, /either a prompt or an agent/],
  ['a blank description', { a: { description: ' ', prompt: 'x' } }, /description is blank/],
  ['an unknown field', { a: { description: 'x', prompt: 'x', tool: [] } }, /no field tool/],
  ['a tool that it lacks', { a: { description: 'x', prompt: 'x', tools: ['pay'] } }, /no tool pay/],
  ['a name with a slash', { 'a/b': { description: 'x', prompt: 'x' } }, /name is not allowed/],
  [
    'a wrong budget',
    { a: { description: 'x', prompt: 'x', budget: { maxTurns: -1 } } },
    /maxTurns/,
  ],
  [
    'an output schema that cannot travel',
    { a: { description: 'x', prompt: 'x', outputSchema: z.date() } },
    /outputSchema of sub-agent a/,
  ],
  ['a list', [], /no object/],
])('A sub-agent with %s is refused with what to do.', (_, agents, message) => {
  const define = () => desk(agents);
  expect(define).toThrow(message);
  expect(define).toThrow(HoldfastError);
});

test('A tool that is called `agent` stands in the way of sub-agents only.', () => {
  const own = defineTool({
    name: 'agent',
    version: '1',
    effect: 'read',
    input: z.object({}),
    run: () => null,
  });
  expect(defineAgent({ ...base, tools: [own] }).tools).toEqual([own]);
  const role = { description: 'x', prompt: 'x' };
  expect(() => desk({ a: role }, { tools: [own] })).toThrow(/name of its tool agent is reserved/);
});

test('Limits of a tree that make no sense are refused.', () => {
  const role = { description: 'x', prompt: 'x' };
  expect(desk({ a: role }, { agentLimits: { depth: 1 } }).agentLimits).toEqual({
    depth: 1,
    atOnce: 4,
    inAll: 50,
  });
  expect(() => desk({ a: role }, { agentLimits: { atOnce: 0 } })).toThrow(/agentLimits/);
});

test('A sub-agent and an agent that is a tool of the same agent need two names.', () => {
  const started = defineAgent({ ...base, name: 'auditor' });
  const tools = [readOrder, agentTool(started, { input: z.object({ orderId: z.string() }) })];
  expect(() =>
    desk({ auditor: { description: 'Audits.', prompt: 'Audit it.' } }, { tools }),
  ).toThrow('both named auditor');
});
