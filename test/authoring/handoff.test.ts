import { defineAgent, defineConfig, type HandoffDeclaration } from '../../authoring/index.js';

const base = { name: 'desk', model: 'scripted/test', instructions: 'Help.' };
const billing = defineAgent({ ...base, name: 'billing' });

test('an agent with handoffTo has the tool handoff, and its filter is all unless it says another', () => {
  const desk = defineAgent({
    ...base,
    handoffTo: ['billing', { agent: 'stock', filter: 'last 4' }],
  });
  expect(desk.tools.map(({ record }) => record.name)).toEqual(['handoff']);
  expect(desk.handoffTo).toEqual([
    { agent: 'billing', filter: 'all' },
    { agent: 'stock', filter: 'last 4' },
  ]);
  expect(billing.tools).toEqual([]);
});

test('a handoff to a run of its own hands the summary over unless it says another filter', () => {
  const handoffTo = [
    { agent: 'billing', run: 'new' },
    { agent: 'stock', run: 'new', filter: 'none' },
    { agent: 'clerk', run: 'same' },
  ] as const;
  expect(defineAgent({ ...base, handoffTo }).handoffTo).toEqual([
    { agent: 'billing', filter: 'summary', run: 'new' },
    { agent: 'stock', filter: 'none', run: 'new' },
    { agent: 'clerk', filter: 'all' },
  ]);
});

test.each([
  ['names the agent itself', ['desk']],
  ['names billing twice', ['billing', { agent: 'billing', filter: 'none' }]],
  ['filter of its handoff to billing is "last 0"', [{ agent: 'billing', filter: 'last 0' }]],
  ['filter of its handoff to billing is "newest"', [{ agent: 'billing', filter: 'newest' }]],
  ['has run "other"', [{ agent: 'billing', run: 'other' }]],
  [
    'filter of its handoff to a new run of billing is "all"',
    [{ agent: 'billing', run: 'new', filter: 'all' }],
  ],
  ['names no agent', [{}]],
  ['not usable', 'billing'],
])('a declaration that %s is refused', (what, handoffTo) => {
  const declared = handoffTo as readonly HandoffDeclaration[];
  expect(() => defineAgent({ ...base, handoffTo: declared })).toThrow(what);
});

test('a configuration that lacks an agent to hand over to is refused', () => {
  const desk = defineAgent({ ...base, handoffTo: ['billing'] });
  expect(() => defineConfig({ agents: [desk] })).toThrow(
    'Agent desk hands over to billing, which is not there',
  );
  expect(() => defineConfig({ agents: [desk, billing] })).not.toThrow();
});

test('a role that an agent declares answers its parent, and cannot hand its run over', () => {
  const desk = defineAgent({
    ...base,
    handoffTo: ['billing'],
    agents: { auditor: { description: 'Audits.', prompt: 'Audit.' } },
  });
  const auditor = desk.agents?.get('auditor')?.agent;
  expect(auditor?.handoffTo).toEqual([]);
  expect(auditor?.tools).toEqual([]);
});
