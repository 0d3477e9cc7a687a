/**
 * The agent whose payments are put through chaos. Each worker loads it compiled against its own package
 * (packages.ts), today's or that of histories/BASE: it uses the public API alone.
 */
import { z } from 'zod';
import {
  defineAgent,
  defineConfig,
  defineTool,
  type Config,
  type ToolContext,
} from '../../index.js';

export const AGENT = 'cashier';
export const ROLE = 'treasurer';

const optionsSchema = z.object({ serviceUrl: z.string() });
const orderInput = z.object({ amountCents: z.number().int().positive() });
type Order = z.output<typeof orderInput>;

/** The configuration of a worker, as its entry asks for it. */
export function config(options: unknown): Config {
  const { serviceUrl } = optionsSchema.parse(options);
  const run = ({ amountCents }: Order, { idempotencyKey, runId, signal }: ToolContext) =>
    asked(`${serviceUrl}/pay`, {
      method: 'POST',
      body: JSON.stringify({ key: idempotencyKey, runId, amountCents, worker: process.pid }),
      signal,
    });
  const probe = async (_order: Order, { idempotencyKey: key, signal }: ToolContext) => {
    const query = new URLSearchParams({ key }).toString();
    const { found } = (await asked(`${serviceUrl}/find?${query}`, { signal })) as {
      found: unknown;
    };
    return found === null ? null : { paid: true };
  };
  const paying = {
    version: '1',
    effect: 'financial',
    idempotency: 'keyed',
    approval: { roles: [ROLE] },
    input: orderInput,
    timeoutMs: 5_000,
    run,
  } as const;
  const tools = [
    defineTool({ ...paying, name: 'pay.repeat', onLost: 'repeat_with_key' }),
    defineTool({ ...paying, name: 'pay.probe', probe }),
    defineTool({ ...paying, name: 'pay.ask', onLost: 'ask' }),
  ];
  return defineConfig({
    agents: [
      defineAgent({
        name: AGENT,
        model: 'scripted/model',
        instructions: 'Pay what is owed.',
        tools,
      }),
    ],
  });
}

async function asked(url: string, init: RequestInit): Promise<unknown> {
  const response = await fetch(url, init);
  if (!response.ok) throw new Error(`The payment service answered ${response.status}.`);
  return response.json();
}
