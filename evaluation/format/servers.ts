/** Servers of connectors (MCP): what they are, what becomes of them, and what they were called for. */
import { z } from 'zod';
import { jsonObject, positive, text, texts, withSomeKey } from './values.js';

/** `hanging`: it takes what it is sent and answers nothing. */
const state = z.enum(['up', 'down', 'hanging']);

export const server = z
  .strictObject({
    trusted: z.boolean(),
    elicitation: z.enum(['ask', 'defaults']),
    required: z.boolean(),
    /** It says so in its next answer when its list of tools has changed. */
    notifies: z.boolean(),
    protocol: z.enum(['modern', 'legacy']),
    is: state,
    allow: texts,
    deny: texts,
    timeoutMs: positive,
    connectTimeoutMs: positive,
    maxResultBytes: positive,
  })
  .partial();

/** A question of a server: a form, or an address that a person is to visit. */
const question = z
  .strictObject({ message: z.string(), schema: jsonObject.optional(), url: text.optional() })
  .refine((value) => (value.schema === undefined) !== (value.url === undefined), {
    message: 'has either a schema or a url',
  });

export const inputRequired = z.strictObject({
  questions: withSomeKey(z.record(z.string(), question)),
  state: z.string().optional(),
});

/** What a server says of a tool from now on; null: it has the tool no more. */
const changedTool = z
  .strictObject({
    description: z.string(),
    inputSchema: jsonObject,
    outputSchema: jsonObject,
    annotations: jsonObject,
  })
  .partial()
  .refine((value) => Object.keys(value).length > 0, 'must not be empty')
  .nullable();

export const serverChange = z
  .strictObject({
    name: text,
    is: state.optional(),
    tools: withSomeKey(z.record(z.string(), changedTool)).optional(),
  })
  .refine((value) => value.is !== undefined || value.tools !== undefined, {
    message: 'changes nothing: give is, or tools',
  });

/** One call as its server got it. */
const servedCall = z.strictObject({
  tool: text,
  input: z.unknown().optional(),
  answers: jsonObject.optional(),
  state: z.string().optional(),
});

export const served = withSomeKey(z.record(z.string(), z.array(servedCall)));
