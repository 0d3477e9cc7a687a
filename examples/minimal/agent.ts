/** A whole agent: one tool, one agent, one configuration. In your project, import from 'holdfast'. */
import { z } from 'zod';
import { defineAgent, defineConfig, defineTool, hours, usd } from '../../index.js';

const sendInvoice = defineTool({
  name: 'billing.send_invoice',
  version: '1',
  effect: 'send', // cannot be unsent: one attempt, never repeated on its own
  idempotency: 'keyed',
  input: z.object({ customer: z.email(), amountCents: z.number().int().positive() }),
  approval: { roles: ['accountant'], expiresInMs: hours(24) },
  run: (input, ctx) => ({ sent: true, to: input.customer, key: ctx.idempotencyKey }),
});

const billing = defineAgent({
  name: 'billing',
  model: 'anthropic/claude-sonnet-5-5',
  instructions: 'Send the invoices you are asked for, then say what was sent.',
  tools: [sendInvoice],
  budget: { maxCostMicroUsd: usd(0.5) },
});

export default defineConfig({ agents: [billing] });
