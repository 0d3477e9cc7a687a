/** The examples of sub-agents and of a connector do what their pages say. */
import { join } from 'node:path';
import { configOf } from '../../examples/connector/contacts.js';
import { research } from '../../examples/research/research.js';
import { readEnvironment } from '../../worker/config.js';
import { providersOf } from '../../worker/providers.js';
import { agentMatchers, calls, testAgent } from '../../testing/index.js';
import { openAsk, startWorld } from '../integration/support/world.js';

expect.extend(agentMatchers);

test('the research has three notes read and a critic asked before it answers', async () => {
  const reader = (id: string) => ({
    tool: 'agent',
    input: { name: 'reader', prompt: `Read ${id}.` },
  });
  const run = await testAgent(research, {
    goal: 'Which teapot keeps tea warm the longest?',
    model: [
      calls('search_notes', { words: 'tea' }),
      { calls: ['N-1', 'N-2', 'N-3'].map(reader) },
      calls('agent', { name: 'critic', prompt: 'Which finding decides?' }),
      'Cast iron.',
    ],
    unfaked: 'own',
    agents: {
      reader: ({ call, messages }) =>
        call === 1
          ? calls('read_note', { id: /N-\d/.exec(JSON.stringify(messages))![0] })
          : /(\d+) minutes/.exec(JSON.stringify(messages))![0],
      critic: ['The longest time.'],
    },
  });
  expect(run).toHaveCalled('agent', { name: 'reader' }, { times: 3 });
  expect(run).toHaveCalled('agent', { name: 'critic' }, { times: 1 });
  expect(run).toHaveStopped('completed');
  expect(JSON.stringify(run.calls)).toContain('75 minutes');
  expect(run).toHaveCalled('read_note', { id: 'N-3' });
});

test('the connector reads at once, and merges after a person has approved', async () => {
  // Tests run compiled; the server is a file of the sources.
  const config = configOf(join(process.cwd(), 'examples/connector/contacts-server.mjs'));
  const providers = providersOf(readEnvironment(), config);
  const world = await startWorld({ workerSettings: { config, providers } });
  try {
    const run = await world.client.start({
      agent: 'contacts',
      runId: 'one-person',
      task: 'Is mia@example.com one person?',
    });
    const ask = await openAsk(run);
    expect(ask).toMatchObject({ tool: 'mcp__crm__merge_contacts' });
    await run.decide({
      v: 1,
      askId: ask.askId,
      argsHash: ask.argsHash,
      decision: 'approve',
      by: 'ana',
      roles: ['approver'],
      decidedAt: Date.now(),
    });
    expect(await run.result()).toMatchObject({
      completed: true,
      answer: { text: 'C-2 is merged into C-1: both were Mia Adler.' },
    });
  } finally {
    await world.stop();
  }
});
