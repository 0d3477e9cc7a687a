/** A tiny agent for the crash kit: one payment that can be looked up, on a service of its own. */
import { z } from 'zod';
import { defineAgent, defineConfig, defineTool, type Config } from '../../../authoring/index.js';

const optionsSchema = z.object({ serviceUrl: z.string() });

export const TINY = 'tiny';
export const APPROVER = { by: 'maria', roles: ['manager'] } as const;
/** Short, so that a dead worker and a claim of its are soon over. */
export const SETTINGS = { heartbeatMs: { repeatable: 1_000, single: 1_000 } } as const;

export function config(options: unknown): Config {
  const { serviceUrl } = optionsSchema.parse(options);
  const ask = async (path: string, key: string): Promise<string> => {
    const response = await fetch(`${serviceUrl}/${path}/${encodeURIComponent(key)}`, {
      method: 'POST',
    });
    return response.text();
  };
  const payment = {
    version: '1',
    effect: 'financial',
    idempotency: 'keyed',
    timeoutMs: 500,
    input: z.object({ amountCents: z.number().int() }),
    run: (_input: unknown, ctx: { readonly idempotencyKey: string }) =>
      ask('pay', ctx.idempotencyKey),
    probe: async (_input: unknown, ctx: { readonly idempotencyKey: string }) =>
      (await ask('find', ctx.idempotencyKey)) || null,
  } as const;
  const tools = [
    defineTool({ name: 'pay', ...payment, approval: 'never' }),
    defineTool({ name: 'pay_asked', ...payment, approval: { roles: [...APPROVER.roles] } }),
  ];
  const agent = defineAgent({ name: TINY, model: 'scripted/model', instructions: 'Pay.', tools });
  return defineConfig({ agents: [agent] });
}
