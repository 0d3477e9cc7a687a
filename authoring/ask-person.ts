/** The tool with which a model asks a person a question; give it to an agent that should be able to. */
import { z } from 'zod';
import { defineTool } from './define-tool.js';

/** The run waits for the answer (`holdfast answer`, `handle.answer`), which is the call's result. */
export const askPerson = defineTool({
  name: 'ask_person',
  version: '1',
  kind: 'human_input',
  effect: 'none',
  description:
    'Asks a person one question and waits for the answer. Use it when only a person can know what you need.',
  input: z.object({
    question: z.string().min(1).max(2_000),
    choices: z
      .array(z.string().min(1).max(200))
      .min(2)
      .max(10)
      .optional()
      .describe('Answers to choose from; the person may give another one.'),
  }),
  // The question is asked by the core; no worker ever gets it.
  run: () => undefined,
});
