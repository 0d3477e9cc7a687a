/**
 * The retail tools by name: 16 of tau-bench, of which tau2-bench drops `think` and later adds
 * `get_item_details`.
 */
import type { Dialect, Table } from '../domains/database.js';
import { byName, type Domain, type DomainTool } from '../domains/domain.js';
import * as shared from '../domains/shared-tools.js';
import type { PyObject } from '../python/python-value.js';
import {
  exchangeDeliveredOrderItems,
  modifyPendingOrderItems,
  returnDeliveredOrderItems,
} from './item-tools.js';
import {
  cancelPendingOrder,
  modifyPendingOrderAddress,
  modifyPendingOrderPayment,
  modifyUserAddress,
} from './order-tools.js';
import * as read from './read-tools.js';

const ADDRESS = ['address1', 'address2', 'city', 'state', 'country', 'zip'] as const;
const SWAP = ['order_id', 'item_ids', 'new_item_ids', 'payment_method_id'] as const;

const TOOLS: readonly DomainTool[] = [
  { name: 'calculate', effect: 'pure', parameters: ['expression'], run: shared.calculate },
  {
    name: 'cancel_pending_order',
    effect: 'write',
    money: true,
    parameters: ['order_id', 'reason'],
    run: cancelPendingOrder,
  },
  {
    name: 'exchange_delivered_order_items',
    effect: 'write',
    money: true,
    parameters: SWAP,
    run: exchangeDeliveredOrderItems,
  },
  {
    name: 'find_user_id_by_email',
    effect: 'read',
    parameters: ['email'],
    run: read.findUserIdByEmail,
  },
  {
    name: 'find_user_id_by_name_zip',
    effect: 'read',
    parameters: ['first_name', 'last_name', 'zip'],
    run: read.findUserIdByNameZip,
  },
  {
    name: 'get_item_details',
    effect: 'read',
    parameters: ['item_id'],
    only: 'tau2',
    run: read.getItemDetails,
  },
  {
    name: 'get_order_details',
    effect: 'read',
    parameters: ['order_id'],
    run: read.getOrderDetails,
  },
  {
    name: 'get_product_details',
    effect: 'read',
    parameters: ['product_id'],
    run: read.getProductDetails,
  },
  { name: 'get_user_details', effect: 'read', parameters: ['user_id'], run: read.getUserDetails },
  { name: 'list_all_product_types', effect: 'read', parameters: [], run: read.listAllProductTypes },
  {
    name: 'modify_pending_order_address',
    effect: 'write',
    parameters: ['order_id', ...ADDRESS],
    run: modifyPendingOrderAddress,
  },
  {
    name: 'modify_pending_order_items',
    effect: 'write',
    money: true,
    parameters: SWAP,
    run: modifyPendingOrderItems,
  },
  {
    name: 'modify_pending_order_payment',
    effect: 'write',
    money: true,
    parameters: ['order_id', 'payment_method_id'],
    run: modifyPendingOrderPayment,
  },
  {
    name: 'modify_user_address',
    effect: 'write',
    parameters: ['user_id', ...ADDRESS],
    run: modifyUserAddress,
  },
  {
    name: 'return_delivered_order_items',
    effect: 'write',
    money: true,
    parameters: ['order_id', 'item_ids', 'payment_method_id'],
    run: returnDeliveredOrderItems,
  },
  { name: 'think', effect: 'pure', parameters: ['thought'], only: 'tau-bench', run: shared.think },
  {
    name: 'transfer_to_human_agents',
    effect: 'control',
    parameters: ['summary'],
    run: shared.transferToHumanAgents,
  },
];

/** tau2 shows an order with all its fields, in this order, and null where nothing happened yet. */
const TAU2_ORDER_FIELDS = [
  'order_id',
  'user_id',
  'address',
  'items',
  'status',
  'fulfillments',
  'payment_history',
  'cancel_reason',
  'exchange_items',
  'exchange_new_items',
  'exchange_payment_method_id',
  'exchange_price_difference',
  'return_items',
  'return_payment_method_id',
] as const;

/** Customer service of a shop: orders are cancelled, changed, returned and exchanged. */
export const RETAIL: Domain = {
  name: 'retail',
  className: 'RetailTools',
  tables: ['orders', 'products', 'users'],
  tools: byName(TOOLS),
  shown: (dialect: Dialect, table: Table, record: PyObject): PyObject =>
    dialect === 'tau2' && table === 'orders'
      ? new Map(TAU2_ORDER_FIELDS.map((field) => [field, record.get(field) ?? null]))
      : record,
};
