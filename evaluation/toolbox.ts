/** The standard toolbox: tools that a case may name without declaring them. */
import { messageAgent } from '../authoring/message-agent.js';
import type { Json } from '../core/json/json.js';
import { MESSAGE_TOOL } from '../core/state/mail.js';
import type { CaseTool, JsonObject } from './fixture.js';

const DEFAULT_TIMEOUT_MS = 30_000;

/** A record without anything special: what a declaration that says nothing means. */
export const PLAIN_TOOL: Omit<CaseTool, 'name' | 'effect' | 'idempotency'> = {
  version: '1',
  description: '',
  concurrencySafe: false,
  sandbox: 'none',
  kind: 'tool',
  inputSchema: { type: 'object' },
  timeoutMs: DEFAULT_TIMEOUT_MS,
  results: [],
};

function taking(fields: { readonly [name: string]: Json }): { readonly inputSchema: JsonObject } {
  return {
    inputSchema: { type: 'object', properties: fields, required: Object.keys(fields) },
  };
}

const STRING: Json = { type: 'string' };
const ORDER = taking({ orderId: { type: 'string', pattern: '\\S' } });
const TEXT = taking({ text: STRING });

const READ = {
  ...PLAIN_TOOL,
  effect: 'read',
  idempotency: 'natural',
  concurrencySafe: true,
} as const;

const TOOLS: readonly CaseTool[] = [
  { ...READ, ...ORDER, name: 'read_order', description: 'Reads an order.' },
  { ...READ, ...ORDER, name: 'read_delivery_status', description: 'Says where an order is.' },
  { ...READ, name: 'search_refund_policy', description: 'Searches the rules for refunds.' },
  { ...READ, ...ORDER, name: 'lookup_order', description: 'Looks an order up.' },
  {
    ...PLAIN_TOOL,
    ...TEXT,
    name: 'write_note',
    description: 'Writes a note.',
    effect: 'write',
    idempotency: 'keyed',
  },
  {
    ...PLAIN_TOOL,
    ...TEXT,
    name: 'send_email',
    description: 'Sends an e-mail.',
    effect: 'send',
    idempotency: 'none',
  },
  {
    ...PLAIN_TOOL,
    ...taking({ order: STRING, amount: { type: 'number', exclusiveMinimum: 0 } }),
    name: 'issue_refund',
    description: 'Pays money back.',
    effect: 'financial',
    idempotency: 'keyed',
    approval: 'always',
  },
  {
    ...PLAIN_TOOL,
    ...ORDER,
    name: 'delete_order',
    description: 'Deletes an order.',
    effect: 'delete',
    idempotency: 'none',
  },
  {
    ...PLAIN_TOOL,
    ...taking({ command: STRING }),
    name: 'shell',
    description: 'Runs a command.',
    effect: 'execute',
    idempotency: 'none',
    sandbox: 'optional',
  },
  {
    ...PLAIN_TOOL,
    ...taking({ question: STRING }),
    name: 'ask_customer',
    description: 'Asks the customer.',
    effect: 'none',
    idempotency: 'natural',
    kind: 'human_input',
  },
  {
    ...PLAIN_TOOL,
    name: 'draft_refund_recommendation',
    description: 'Drafts a recommendation.',
    effect: 'none',
    idempotency: 'natural',
  },
  {
    ...PLAIN_TOOL,
    ...taking({ name: STRING, prompt: STRING }),
    name: 'agent',
    description: 'Hands a task to a sub-agent.',
    effect: 'none',
    idempotency: 'natural',
    kind: 'subagent',
  },
  {
    ...PLAIN_TOOL,
    name: MESSAGE_TOOL,
    description: messageAgent.description,
    effect: 'none',
    idempotency: 'natural',
    builtIn: true,
  },
];

export const TOOLBOX: ReadonlyMap<string, CaseTool> = new Map(
  TOOLS.map((tool) => [tool.name, tool]),
);
