/** An agent that has notes read by sub-agents, and its findings looked at by another one, before it answers. */
import { z } from 'zod';
import { defineAgent, defineTool, ToolError, usd } from '../../index.js';
import { noteOf, search } from './library.js';

const searchNotes = defineTool({
  name: 'search_notes',
  version: '1',
  description: 'Ids and titles of notes in which one of the words occurs.',
  effect: 'read',
  input: z.object({ words: z.string().max(200) }),
  run: ({ words }) => ({ notes: search(words) }),
});

const readNote = defineTool({
  name: 'read_note',
  version: '1',
  description: 'A note as a whole.',
  effect: 'read',
  input: z.object({ id: z.string().regex(/^N-\d{1,4}$/) }),
  run: ({ id }) => {
    const note = noteOf(id);
    if (note === undefined) throw new ToolError('not_found', `There is no note ${id}.`);
    return { ...note };
  },
});

const vendor = process.env['ANTHROPIC_API_KEY'] || process.env['NODE_ENV'] === 'production';
const model = vendor ? 'anthropic/claude-sonnet-5-5' : 'scripted/research';

export const research = defineAgent({
  name: 'research',
  model,
  instructions: [
    'Answer the question from the notes. Find the notes, and have each read by the agent `reader`, all in one reply.',
    'Then have the findings looked at by the agent `critic`, and answer in at most three sentences with the ids of the notes.',
  ].join('\n'),
  tools: [searchNotes, readNote],
  agents: {
    reader: {
      description: 'Reads one note and says in one sentence what answers the question.',
      prompt: 'Read the note that you are told. Say in one sentence what answers the question.',
      tools: ['read_note'],
      maxTurns: 3,
      budget: { maxCostMicroUsd: usd(0.05) },
      parallel: true,
    },
    critic: {
      description: 'Says whether findings support an answer.',
      prompt: 'Say in one sentence which finding decides the question, and what speaks against it.',
      tools: [],
      maxTurns: 2,
      budget: { maxCostMicroUsd: usd(0.05) },
    },
  },
  settings: { toolExecution: 'batched' },
  budget: { maxCostMicroUsd: usd(0.5), maxTurns: 8 },
});
