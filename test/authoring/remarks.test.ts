/** Names that match no tool are found, and no name that a tool may have is. */
import { z } from 'zod';
import { config as minimal } from '../../examples/minimal/agent.js';
import { collectionsOf } from '../../examples/collections/collections.js';
import { config as connector } from '../../examples/connector/holdfast.config.js';
import { config as refundShop } from '../../examples/refund/holdfast.config.js';
import { repairOf } from '../../examples/repair/repair.js';
import { config as research } from '../../examples/research/holdfast.config.js';
import {
  agentTool,
  askPerson,
  defineAgent,
  defineConfig,
  defineHook,
  defineTool,
  hours,
  messageAgent,
  type AgentDefinition,
  type ConfigDefinition,
} from '../../authoring/index.js';
import { newRemarks, remarksOnStart, toolsWithin } from '../../authoring/remarks.js';

const tool = (name: string) =>
  defineTool({ name, version: '1', effect: 'read', input: z.object({}), run: () => null });
const refund = tool('refund');
const pay = tool('payments.pay');

const agent = (rest: Partial<AgentDefinition> = {}) =>
  defineAgent({
    name: 'desk',
    model: 'scripted/x',
    instructions: 'Help.',
    tools: [refund],
    ...rest,
  });
const policy = (...tools: readonly string[]) => ({
  policy: { rules: tools.map((name) => ({ tool: name, decision: 'deny' as const })) },
});
const hook = (...tools: readonly string[]) => ({
  hooks: [defineHook({ name: 'guard', point: 'PreToolUse', match: { tools }, run: () => null })],
});
const found = (agents: ConfigDefinition['agents'], rest: Partial<ConfigDefinition> = {}) =>
  newRemarks(defineConfig({ agents, ...rest })).map((one) => one.split('. ')[0]);
/** The names that are remarked on. */
const names = (...given: Parameters<typeof found>) =>
  found(...given).map((text) => /"(.*)"/.exec(text ?? '')?.[1]);

test('A misspelt name is found at each kind of place.', () => {
  const settings = { disallowedTools: ['refund', 'refnd'], allowedTools: ['refnd'] };
  const agents = {
    auditor: { description: 'Audits.', prompt: 'Audit.', disallowedTools: ['refund', 'refunt'] },
  };
  const desk = agent({ ...policy('refund', 'refnd'), ...hook('refnd'), settings, agents });
  expect(found([desk])).toEqual([
    'Agent desk: policy.rules[1] is "refnd", which matches no tool',
    'Agent desk: hook guard match.tools[0] is "refnd", which matches no tool',
    'Agent desk: settings.allowedTools[0] is "refnd", which matches no tool',
    'Agent desk: settings.disallowedTools[1] is "refnd", which matches no tool',
    'Agent desk: sub-agent auditor disallowedTools[1] is "refunt", which matches no tool',
  ]);
});

test('A condition on an argument that no tool of its rule takes is found.', () => {
  const transfer = defineTool({
    name: 'transfer',
    version: '1',
    effect: 'read',
    input: z.object({ amountCents: z.number(), to: z.object({ iban: z.string() }) }),
    run: () => null,
  });
  const open = defineTool({
    name: 'open',
    version: '1',
    effect: 'read',
    input: z.looseObject({ amountCents: z.number() }),
    run: () => null,
  });
  const rule = (name: string, path: string) => ({
    tool: name,
    decision: 'deny' as const,
    when: { path, gte: 5 },
  });
  const rules = [
    rule('transfer', 'amontCents'),
    rule('transfer', 'amountCents'),
    rule('transfer', 'to.iban'),
    rule('transfer', 'to.bic'),
    rule('open', 'anything'),
    rule('*', 'anything'),
  ];
  const desk = agent({ tools: [transfer, open], policy: { rules } });
  expect(newRemarks(defineConfig({ agents: [desk] }))).toEqual([
    'Agent desk: policy.rules[0].when.path is "amontCents", which no tool of the rule takes. Did you mean amountCents?',
    'Agent desk: policy.rules[3].when.path is "to.bic", which no tool of the rule takes.',
  ]);
});

test('A remark says what was meant.', () => {
  const [one] = newRemarks(defineConfig({ agents: [agent(policy('refnd'))] }));
  expect(one).toMatch(/ Did you mean refund\?$/);
});

test('A `*` stands for any rest, and in a hook for anything.', () => {
  const desk = agent({
    tools: [pay],
    ...policy('*', 'payments.*', 'pay.*'),
    ...hook('*.pay', '*.pai'),
  });
  expect(names([desk])).toEqual(['pay.*', '*.pai']);
});

test('Tools of sub-agents, of agents as tools and of whoever takes over are tools as well.', () => {
  const below = agent({ name: 'below', tools: [tool('below_tool')] });
  const asTool = agent({ name: 'as_tool', tools: [tool('deep_tool')] });
  const next = agent({ name: 'next', tools: [tool('next_tool')] });
  const desk = agent({
    tools: [agentTool(asTool, { input: z.object({}) })],
    agents: { below: { description: 'Helps.', agent: below } },
    handoffTo: ['next'],
    ...policy('below_tool', 'as_tool', 'deep_tool', 'next_tool', 'agent', 'handoff', 'prev_tool'),
  });
  expect(names([desk, next])).toEqual(['prev_tool']);
});

test('A tool of an agent that stands beside is none, unless both say the same.', () => {
  const other = agent({ name: 'other', tools: [pay] });
  expect(names([agent(policy('payments.pay')), other])).toEqual(['payments.pay']);
  const shared = policy('payments.pay');
  expect(names([agent(shared), agent({ name: 'other', tools: [pay], ...shared })])).toEqual([]);
  expect(names([agent(hook('refund')), other])).toEqual([]);
});

test('A role that is left with fewer tools than its agent has no false word of its rules.', () => {
  const reader = { description: 'Reads.', prompt: 'Read.', tools: [] };
  const settings = { disallowedTools: ['refund'] };
  const both = { settings, ...policy('refund'), ...hook('refund') };
  expect(
    names([agent({ agents: { reader: { ...reader, disallowedTools: ['refund'] } }, ...both })]),
  ).toEqual([]);
});

test('Tools that the runtime gives, starts and goals among them, are no unknown names.', () => {
  const rules = policy('agent', 'goal_*', 'goal_note', 'message_agent', 'ask_person');
  expect(names([agent({ tools: [askPerson, messageAgent], ...rules })])).toEqual([]);
});

test('A name that a connector of the agent may give is none, one of another connector is.', () => {
  const mcp = { crm: { url: 'https://crm.test' }, erp: { url: 'https://erp.test' } };
  const all = agent({
    mcp: ['crm'],
    ...policy('mcp__crm__x', 'mcp__*', 'mcp__crm__get_*', 'mcp__erp__x', 'mcp__crm'),
    ...hook('*__x', 'mcp__c*__x', 'mcp__erp__*'),
  });
  expect(names([all], { mcp })).toEqual(['mcp__erp__x', 'mcp__crm', 'mcp__erp__*']);
  const some = agent({
    mcp: ['mcp__crm__get_*', 'mcp__crm__merge'],
    ...policy('mcp__crm__get_one', 'mcp__crm__merge', 'mcp__crm__mrege', 'mcp__crm__*'),
  });
  expect(names([some], { mcp })).toEqual(['mcp__crm__mrege']);
});

test('The list is bounded, and what several agents say is told once.', () => {
  const wrong = Array.from({ length: 25 }, (_, at) => `wrong_${at}`);
  const twice = agent({ name: 'twice', ...policy(...wrong) });
  const all = found([agent(policy(...wrong)), twice]);
  expect(all).toHaveLength(21);
  expect(all.at(-1)).toBe('And 5 more.');
});

test('A start that names no tool of its agent is found; in its task a `*` has no meaning.', () => {
  const { agents } = defineConfig({ agents: [agent()] });
  const start = {
    task: { goal: 'Do it.', forbiddenActions: ['refund', 'refund*'] },
    settings: { disallowedTools: ['ref*', 'fund*'] },
  };
  const tools = toolsWithin([agents.get('desk')!], agents);
  expect(remarksOnStart('The start', start, tools)).toEqual([
    expect.stringMatching(/^The start: task\.forbiddenActions\[1\] is "refund\*".* mean refund\?$/),
    expect.stringMatching(/^The start: settings\.disallowedTools\[1\] is "fund\*"/),
  ]);
});

test('An approval that expires below a second is told with the unit.', () => {
  const remarks = (expiresInMs: number) =>
    newRemarks(
      defineConfig({
        agents: [
          agent({
            tools: [
              defineTool({
                name: 'send',
                version: '1',
                effect: 'send',
                approval: { roles: ['lead'], expiresInMs },
                input: z.object({}),
                run: () => null,
              }),
            ],
          }),
        ],
      }),
    );
  expect(remarks(24)).toEqual([
    'Tool send: its approval expires after 24 ms; expiresInMs is milliseconds: seconds(…), minutes(…), hours(…).',
  ]);
  expect(remarks(hours(24))).toEqual([]);
  expect(remarks(1_000)).toEqual([]);
});

test.each([
  ['minimal', minimal],
  ['refund', refundShop],
  ['connector', connector],
  ['research', research],
  ['repair', repairOf({ workshop: {} } as never).config],
  ['collections', collectionsOf({} as never).config],
])('Nothing is remarked on the example %s.', (_name, config) => {
  expect(newRemarks(config)).toEqual([]);
});
