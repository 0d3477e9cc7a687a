/**
 * The retail tools by name: 16 of tau-bench, of which tau2-bench drops `think` and later adds
 * `get_item_details`. {@link runRetailTool} is their only door.
 */
import { bindArguments } from './arguments.js';
import type { Dialect } from './database.js';
import {
  exchangeDeliveredOrderItems,
  modifyPendingOrderItems,
  returnDeliveredOrderItems,
} from './item-tools.js';
import type { Tool } from './lookups.js';
import {
  cancelPendingOrder,
  modifyPendingOrderAddress,
  modifyPendingOrderPayment,
  modifyUserAddress,
} from './order-tools.js';
import type { PyObject } from './python-value.js';
import * as read from './read-tools.js';
import { ToolError } from './tool-error.js';
import type { World } from './world.js';

/** What a tool may do: nothing but look, change records, or end the conversation. */
export type ToolEffect = 'read' | 'write' | 'pure' | 'control';

export interface RetailTool {
  readonly name: string;
  readonly effect: ToolEffect;
  /** Names of the parameters, all required, in the order of the schema. */
  readonly parameters: readonly string[];
  /** Set when only one generation of the benchmark has the tool. */
  readonly only?: Dialect;
  readonly run: Tool;
}

const ADDRESS = ['address1', 'address2', 'city', 'state', 'country', 'zip'] as const;
const SWAP = ['order_id', 'item_ids', 'new_item_ids', 'payment_method_id'] as const;

/** All retail tools. */
export const RETAIL_TOOLS: readonly RetailTool[] = [
  tool('calculate', 'pure', { parameters: ['expression'], run: read.calculate }),
  tool('cancel_pending_order', 'write', {
    parameters: ['order_id', 'reason'],
    run: cancelPendingOrder,
  }),
  tool('exchange_delivered_order_items', 'write', {
    parameters: SWAP,
    run: exchangeDeliveredOrderItems,
  }),
  tool('find_user_id_by_email', 'read', { parameters: ['email'], run: read.findUserIdByEmail }),
  tool('find_user_id_by_name_zip', 'read', {
    parameters: ['first_name', 'last_name', 'zip'],
    run: read.findUserIdByNameZip,
  }),
  tool('get_item_details', 'read', {
    parameters: ['item_id'],
    only: 'tau2',
    run: read.getItemDetails,
  }),
  tool('get_order_details', 'read', { parameters: ['order_id'], run: read.getOrderDetails }),
  tool('get_product_details', 'read', { parameters: ['product_id'], run: read.getProductDetails }),
  tool('get_user_details', 'read', { parameters: ['user_id'], run: read.getUserDetails }),
  tool('list_all_product_types', 'read', { parameters: [], run: read.listAllProductTypes }),
  tool('modify_pending_order_address', 'write', {
    parameters: ['order_id', ...ADDRESS],
    run: modifyPendingOrderAddress,
  }),
  tool('modify_pending_order_items', 'write', { parameters: SWAP, run: modifyPendingOrderItems }),
  tool('modify_pending_order_payment', 'write', {
    parameters: ['order_id', 'payment_method_id'],
    run: modifyPendingOrderPayment,
  }),
  tool('modify_user_address', 'write', {
    parameters: ['user_id', ...ADDRESS],
    run: modifyUserAddress,
  }),
  tool('return_delivered_order_items', 'write', {
    parameters: ['order_id', 'item_ids', 'payment_method_id'],
    run: returnDeliveredOrderItems,
  }),
  tool('think', 'pure', { parameters: ['thought'], only: 'tau-bench', run: read.think }),
  tool('transfer_to_human_agents', 'control', {
    parameters: ['summary'],
    run: read.transferToHumanAgents,
  }),
];

const BY_NAME: ReadonlyMap<string, RetailTool> = new Map(
  RETAIL_TOOLS.map((entry) => [entry.name, entry]),
);

function tool(
  name: string,
  effect: ToolEffect,
  rest: Omit<RetailTool, 'name' | 'effect'>,
): RetailTool {
  return { name, effect, ...rest };
}

/** The tool of this name, or undefined. */
export function retailTool(name: string): RetailTool | undefined {
  return BY_NAME.get(name);
}

export interface ToolAnswer {
  readonly content: string;
  readonly error: boolean;
}

/**
 * Runs one call on a world. A refusal is an answer with `error`, never an exception; whether the
 * world's stage is kept is the caller's decision, and only an answer without error deserves it.
 */
export function runRetailTool(world: World, name: string, args: PyObject): ToolAnswer {
  const entry = retailTool(name);
  if (entry === undefined || (entry.only ?? world.dialect) !== world.dialect) {
    const tau2 = world.dialect === 'tau2';
    return {
      content: tau2 ? `Error: Tool '${name}' not found.` : `Unknown action ${name}`,
      error: true,
    };
  }
  try {
    const signature = { dialect: world.dialect, tool: name, parameters: entry.parameters };
    return { content: entry.run(world, bindArguments(signature, args)), error: false };
  } catch (error) {
    if (error instanceof ToolError) return { content: `Error: ${error.message}`, error: true };
    throw error;
  }
}
