/**
 * The shop's books, in its own SQLite file.
 * Invariants: payment rows are only ever added, the database itself refuses anything else; a key has one
 * payment for ever; the payments of an order never exceed its total.
 */
import { createHash } from 'node:crypto';
import { mkdirSync } from 'node:fs';
import { dirname } from 'node:path';
import Sqlite from 'better-sqlite3';
import { prepared } from '../../prepared.js';
import {
  DELIVERIES,
  ORDERS,
  POLICY,
  type Delivery,
  type Order,
  type PolicySection,
} from './catalogue.js';

export interface RefundRequest {
  readonly key: string;
  readonly orderId: string;
  readonly amountCents: number;
  readonly reason: string;
}

/** One row of payments: money that left. */
export interface Refund extends RefundRequest {
  readonly refundId: string;
  /** ms since epoch. */
  readonly paidAt: number;
}

export type RefundOutcome =
  | { readonly kind: 'paid'; readonly refund: Refund; readonly replayed: boolean }
  | { readonly kind: 'key_conflict' | 'unknown_order' | 'too_much'; readonly message: string };

export interface Books {
  order(orderId: string): Order | undefined;
  delivery(orderId: string): Delivery | undefined;
  searchPolicy(words: string): readonly PolicySection[];
  /** Pays, or gives the payment that this key already made. */
  refund(request: RefundRequest, at: number): RefundOutcome;
  findByKey(key: string): Refund | undefined;
  refundsOf(orderId: string): readonly Refund[];
  close(): void;
}

const ROWS_MAX = 1_000;

const SCHEMA = `
  CREATE TABLE IF NOT EXISTS orders (id TEXT PRIMARY KEY, record TEXT NOT NULL);
  CREATE TABLE IF NOT EXISTS deliveries (id TEXT PRIMARY KEY, record TEXT NOT NULL);
  CREATE TABLE IF NOT EXISTS payments (
    seq INTEGER PRIMARY KEY AUTOINCREMENT, refundId TEXT NOT NULL UNIQUE, key TEXT NOT NULL UNIQUE,
    orderId TEXT NOT NULL, amountCents INTEGER NOT NULL CHECK (amountCents > 0), reason TEXT NOT NULL,
    paidAt INTEGER NOT NULL
  );
  CREATE INDEX IF NOT EXISTS payments_by_order ON payments (orderId, seq);
  CREATE TRIGGER IF NOT EXISTS payments_no_update BEFORE UPDATE ON payments
    BEGIN SELECT RAISE(ABORT, 'payments are append-only'); END;
  CREATE TRIGGER IF NOT EXISTS payments_no_delete BEFORE DELETE ON payments
    BEGIN SELECT RAISE(ABORT, 'payments are append-only'); END;
`;
const REFUND_COLUMNS = 'refundId, key, orderId, amountCents, reason, paidAt';

/** Opens the books, made and filled on first use; what a killed process left behind is continued. */
export function openBooks(file: string): Books {
  mkdirSync(dirname(file), { recursive: true });
  const sqlite = new Sqlite(file);
  sqlite.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;');
  sqlite.transaction(() => seed(sqlite)).immediate();
  const statements = prepare(sqlite);
  const pay = sqlite.transaction((request: RefundRequest, at: number) =>
    payOnce(statements, request, at),
  );
  return {
    order: (orderId) => recordOf<Order>(statements.order.get(orderId)),
    delivery: (orderId) => recordOf<Delivery>(statements.delivery.get(orderId)),
    searchPolicy,
    refund: (request, at) => pay.immediate(request, at),
    findByKey: (key) => statements.byKey.get(key),
    refundsOf: (orderId) => statements.byOrder.all(orderId),
    close: () => void sqlite.close(),
  };
}

function seed(sqlite: Sqlite.Database): void {
  sqlite.exec(SCHEMA);
  const order = prepared(sqlite, 'INSERT OR IGNORE INTO orders (id, record) VALUES (?, ?)');
  for (const each of ORDERS) order.run(each.orderId, JSON.stringify(each));
  const delivery = prepared(sqlite, 'INSERT OR IGNORE INTO deliveries (id, record) VALUES (?, ?)');
  for (const each of DELIVERIES) delivery.run(each.orderId, JSON.stringify(each));
}

type Statements = ReturnType<typeof prepare>;

function prepare(sqlite: Sqlite.Database) {
  return {
    order: prepared<[string], { record: string }>(sqlite, 'SELECT record FROM orders WHERE id = ?'),
    delivery: prepared<[string], { record: string }>(
      sqlite,
      'SELECT record FROM deliveries WHERE id = ?',
    ),
    byKey: prepared<[string], Refund>(
      sqlite,
      `SELECT ${REFUND_COLUMNS} FROM payments WHERE key = ?`,
    ),
    byOrder: prepared<[string], Refund>(
      sqlite,
      `SELECT ${REFUND_COLUMNS} FROM payments WHERE orderId = ? ORDER BY seq LIMIT ${ROWS_MAX}`,
    ),
    paidFor: prepared<[string], { cents: number }>(
      sqlite,
      'SELECT coalesce(sum(amountCents), 0) AS cents FROM payments WHERE orderId = ?',
    ),
    append: prepared<[Refund]>(
      sqlite,
      `INSERT INTO payments (${REFUND_COLUMNS})
       VALUES (@refundId, @key, @orderId, @amountCents, @reason, @paidAt)`,
    ),
  };
}

/** Runs in one transaction: two requests with one key cannot both find no payment. */
function payOnce(statements: Statements, request: RefundRequest, at: number): RefundOutcome {
  const { key, orderId, amountCents, reason } = request;
  const earlier = statements.byKey.get(key);
  if (earlier !== undefined) {
    // The reason is words for the books; order and amount are what the key was used for.
    if (earlier.orderId === orderId && earlier.amountCents === amountCents)
      return { kind: 'paid', refund: earlier, replayed: true };
    return { kind: 'key_conflict', message: `The key ${key} belongs to another refund.` };
  }
  const order = recordOf<Order>(statements.order.get(orderId));
  if (order === undefined) {
    return { kind: 'unknown_order', message: `There is no order ${orderId}.` };
  }
  const leftCents = order.totalCents - (statements.paidFor.get(orderId)?.cents ?? 0);
  if (amountCents > leftCents) {
    const message = `Order ${orderId} has ${leftCents} cents left to refund, not ${amountCents}.`;
    return { kind: 'too_much', message };
  }
  const refundId = `RF-${createHash('sha256').update(key).digest('hex').slice(0, 10)}`;
  const refund: Refund = { refundId, key, orderId, amountCents, reason, paidAt: at };
  statements.append.run(refund);
  return { kind: 'paid', refund, replayed: false };
}

function searchPolicy(words: string): readonly PolicySection[] {
  const wanted = words.toLowerCase().match(/[a-z]{3,}/g) ?? [];
  return POLICY.filter(({ title, text }) => {
    const section = `${title} ${text}`.toLowerCase();
    return wanted.some((word) => section.includes(word));
  });
}

function recordOf<T>(row: { readonly record: string } | undefined): T | undefined {
  return row === undefined ? undefined : (JSON.parse(row.record) as T);
}
