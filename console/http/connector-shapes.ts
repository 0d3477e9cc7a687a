/** Shapes of connectors: what their servers offer, and what a person approves of it. */
import { z } from 'zod';

const HASH = /^[0-9a-f]{64}$/;
const TOOLS_MAX = 200;

const text = z.string();

const change = z.object({
  field: text,
  was: text.optional().describe('absent: there was none'),
  is: text.optional(),
});

const approvedOnce = {
  at: z.number().int().describe('ms since epoch'),
  by: text.optional().describe('absent: the tool was there when the connector was first seen'),
};

const connectorTool = z.object({
  name: text.describe('as runs name it'),
  tool: text.describe('as its server names it'),
  state: z.enum(['approved', 'first use', 'changed', 'new', 'gone', 'unusable']),
  effect: text,
  version: text,
  hash: text.describe('of all that the server says of the tool'),
  problem: text.optional(),
  changes: z.array(change).describe('against what was approved'),
  wentBack: z
    .object({ ...approvedOnce, newer: z.object({ ...approvedOnce, hash: text }) })
    .optional()
    .describe(
      'an approval that counts again: the server went back to this description after a newer one was approved; `changes` are against the newer one',
    ),
  definition: z
    .record(text, z.unknown())
    .optional()
    .describe('all that the server says of it, as MCP lists tools'),
});

export const connector = z.object({
  connector: text,
  status: z.enum(['connected', 'failed']),
  required: z.boolean(),
  trusted: z.boolean(),
  era: z.enum(['modern', 'legacy']).optional(),
  server: text.optional(),
  message: text.optional().describe('why the server cannot be reached'),
  hasLogin: z.boolean().describe('people log it in'),
  login: text.optional().describe('why somebody is to log in'),
  tools: z.array(connectorTool),
});

export const approveBody = z.strictObject({
  tools: z
    .array(
      z.strictObject({
        name: z.string().min(1).max(128),
        hash: z.string().regex(HASH).describe('that was shown: another one is not approved'),
      }),
    )
    .min(1)
    .max(TOOLS_MAX),
});

export const approved = z.object({
  approved: z.array(z.object({ name: text, hash: text })),
});

const word = (max: number) => z.string().min(1).max(max);

/** Of a command that waits for the browser on its own machine. */
const LOOPBACK = /^http:\/\/127\.0\.0\.1:\d{1,5}\/callback$/;

export const beginLogin = z.strictObject({
  redirectUrl: z
    .string()
    .regex(LOOPBACK)
    .optional()
    .describe('where the browser comes back to; absent: to the page of the desk'),
});

export const begunLogin = z.object({
  address: text.describe('of the authorization server, for the browser of the person'),
  issuer: text,
  expiresAt: z.number().int(),
});

/** As the authorization server sent the person back. */
export const loginAnswer = z.strictObject({
  state: word(512),
  code: word(4_096).optional(),
  iss: word(2_048).optional(),
  error: word(200).optional(),
});

export const loggedIn = z.object({
  connector: text,
  issuer: text,
  scope: text.optional(),
  until: z.number().int().optional().describe('end of the first token'),
  renews: z.boolean().describe('the next token needs no person'),
});

export const loggedOut = z.object({
  was: z.boolean(),
  revoked: z.boolean().optional().describe('absent: the authorization server takes none back'),
});
