/** The tool with which a model asks for a person; give it to an agent that should be able to. */
import { z } from 'zod';
import { defineTool } from './define-tool.js';

/** Stops the run with `needs_human` and the model's reason. Nothing is executed. */
export const escalate = defineTool({
  name: 'escalate',
  version: '1',
  kind: 'handoff',
  effect: 'none',
  description:
    'Hands the task to a person. Use it when you cannot or must not go on, and say why in one sentence.',
  input: z.object({ reason: z.string().min(1).max(500) }),
  // A handoff ends the run in the core; no worker ever gets it.
  run: () => undefined,
});
