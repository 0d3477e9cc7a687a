/** An agent whose servers want tokens; read by the worker process too, which hands its options over as JSON. */
import { z } from 'zod';
import { defineAgent, defineConfig, type Config } from '../../../authoring/index.js';

const server = z.object({ url: z.string(), issuer: z.string() });
const optionsSchema = z.object({ machine: server, person: server });

/** Where the worker reads the client's secret. */
export const SECRET_VARIABLE = 'HOLDFAST_TEST_MACHINE_SECRET';

export function config(options: unknown): Config {
  const { machine, person } = optionsSchema.parse(options);
  return defineConfig({
    agents: [
      defineAgent({
        name: 'authorized',
        model: 'scripted/model',
        instructions: 'Serve the customer.',
        mcp: ['machine', 'person'],
        budget: { maxConsecutiveToolFailures: 'unlimited' },
      }),
    ],
    mcp: {
      machine: {
        url: machine.url,
        trust: 'trusted',
        auth: {
          grant: 'client_credentials',
          clientId: 'holdfast',
          clientSecret: { env: SECRET_VARIABLE },
          issuer: machine.issuer,
        },
      },
      person: {
        url: person.url,
        trust: 'trusted',
        auth: { grant: 'authorization_code', issuer: person.issuer },
      },
    },
  });
}
