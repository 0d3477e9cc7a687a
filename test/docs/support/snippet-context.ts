/** What the blocks of the documents take as given: tools, agents and services that their readers have. */
import { z } from 'zod';
import type { PayloadCodec } from '@temporalio/common';
import type { UIMessage } from 'ai-v7';
import type { FunctionComponent } from 'react';
import type { Config, ConfigDefinition, DefinedGoal, InputOf } from '../../../authoring/index.js';
import { defineAgent, defineHook, defineTool, type HoldfastClient } from '../../../index.js';
import type { Provider } from '../../../worker/index.js';

const input = z.object({ orderId: z.string() });

export const readOrder = defineTool({
  name: 'read_order',
  version: '1',
  effect: 'read',
  input,
  run: ({ orderId }) => ({ orderId, status: 'delivered' }),
});

export const issueRefund = defineTool({
  name: 'payments.refund',
  version: '2',
  effect: 'financial',
  idempotency: 'keyed',
  input: z.object({ orderId: z.string(), amount: z.number() }),
  approval: { roles: ['lead'] },
  run: ({ orderId, amount }) => ({ orderId, amount }),
});

export const issueRefundV1 = defineTool({
  ...readOrderLike('payments.issue_refund'),
  version: '1',
});
export const readLedger = defineTool({ ...readOrderLike('ledger.read'), version: '1' });

function readOrderLike(name: string) {
  return { name, effect: 'read' as const, input, run: (given: InputOf<typeof input>) => given };
}

const agentNamed = (name: string) =>
  defineAgent({
    name,
    model: 'anthropic/claude-sonnet-5-5',
    instructions: 'Help.',
    tools: [readOrder, issueRefund],
  });

export const refundAgent = agentNamed('refund');
export const refunds = agentNamed('refunds');
export const billing = agentNamed('billing');
export const stock = agentNamed('stock');

export declare const client: HoldfastClient;
export declare const config: Config;
interface Payment {
  readonly orderId: string;
  readonly customerId: string;
  readonly amountCents: number;
}

export const payments = {
  refund: ({ orderId }: Payment, { idempotencyKey }: { idempotencyKey: string | undefined }) =>
    Promise.resolve({ refundId: `${orderId} ${idempotencyKey}` }),
};

export const oldAudit = defineHook({ name: 'audit', point: 'PostToolUse', run: () => undefined });
export const sealingCodec: PayloadCodec = {
  encode: (payloads) => Promise.resolve(payloads),
  decode: (payloads) => Promise.resolve(payloads),
};
export declare const providers: ReadonlyMap<string, Provider>;
export declare const goal: DefinedGoal;
export declare function configOf(now: () => number): Config;
export type ConnectorDefinition = NonNullable<ConfigDefinition['mcp']>[string];

/** Of a web server: who sent a request, and its routes. */
export declare function userOfCookie(
  cookie: string | null,
): Promise<{ id: string; roles: readonly string[] } | undefined>;
export declare const app: {
  all(path: string, answer: (c: { req: { raw: Request } }) => unknown): void;
};

/** Of a page: the client of the AI SDK, and what a page keeps of its own. */
export { useChat } from 'ai-react-v7';
export { lastAssistantMessageIsCompleteWithApprovalResponses } from 'ai-v7';
export declare const chatId: string;
export declare const initialMessages: UIMessage[];
export declare const message: UIMessage;
export declare const askId: string;
export declare const argsHash: string;
export declare const Part: FunctionComponent<{ part: UIMessage['parts'][number] }>;

/** A tool of the AI SDK. */
export const weather = {
  inputSchema: z.object({ city: z.string() }),
  execute: ({ city }: { city: string }) => Promise.resolve({ city, degrees: 21 }),
};
