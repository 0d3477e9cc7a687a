/** A supervisor has instructions and a model, and nothing to act with. */
import { defineAgent, defineTool, type AgentDefinition } from '../../authoring/index.js';
import { z } from 'zod';

const base = { name: 'desk', model: 'scripted/model', instructions: 'Help.' };
const watcher = defineAgent({ name: 'watcher', model: 'scripted/model', instructions: 'Watch.' });
const read = defineTool({
  name: 'read',
  version: '1',
  effect: 'read',
  description: 'Reads.',
  input: z.object({}),
  run: () => 'text',
});

test('an agent names who looks at its runs, and when', () => {
  const { supervisor } = defineAgent({
    ...base,
    supervise: { agent: watcher, every: { turns: 3 }, on: ['warning', 'warning'], roles: ['lead'] },
  });
  expect(supervisor).toEqual({ agent: watcher, everyTurns: 3, on: ['warning'], roles: ['lead'] });
});

const armed = defineAgent({ ...base, name: 'armed', tools: [read] });
const watched = defineAgent({
  ...base,
  name: 'watched',
  supervise: { agent: watcher, every: { turns: 1 } },
});

test.each<[string, unknown, RegExp]>([
  ['neither turns nor events', { agent: watcher }, /nothing says when the supervisor looks/],
  ['no turns at all', { agent: watcher, every: { turns: 0 } }, /supervise is not allowed/],
  [
    'an event that there is not',
    { agent: watcher, on: ['everything'] },
    /supervise is not allowed/,
  ],
  [
    'a field that there is not',
    { agent: watcher, every: { turns: 1 }, may: 'all' },
    /supervise is not allowed/,
  ],
  ['no agent', { agent: {}, every: { turns: 1 } }, /its supervisor is no agent/],
  ['a supervisor with tools', { agent: armed, every: { turns: 1 } }, /has more than instructions/],
  [
    'a supervised supervisor',
    { agent: watched, every: { turns: 1 } },
    /has more than instructions/,
  ],
])('%s is refused', (_, supervise, message) => {
  expect(() => defineAgent({ ...base, supervise } as AgentDefinition)).toThrow(message);
});
