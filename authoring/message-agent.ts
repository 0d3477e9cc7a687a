/** The tool with which runs of one tree write to each other (SA-03); give it to agents that should be able to. */
import { z } from 'zod';
import { MAIL_LIMITS, MESSAGE_TOOL } from '../core/state/mail.js';
import { defineTool } from './define-tool.js';

const NAME_CHARS_MAX = 400;

/** Lets the agents of one tree of runs write letters to each other. Give it to those that should be able to. */
export const messageAgent = defineTool({
  name: MESSAGE_TOOL,
  version: '1',
  effect: 'none',
  description:
    'Writes a letter to another agent that works on a part of this task: its name, its run id, "parent" or "root". The other agent reads the letter before its next step; an answer comes as a letter to you.',
  input: z.object({
    to: z.string().min(1).max(NAME_CHARS_MAX),
    text: z.string().min(1).max(MAIL_LIMITS.textChars),
  }),
  // Whoever executes it has its code: it needs the store (activities/tool/message-agent.ts).
  run: () => undefined,
});
