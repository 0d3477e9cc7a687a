/**
 * The company's ledger, in a SQLite file of its own: invoices, reminders, letters of customers, agreements.
 * Invariants: a reminder, and an agreement, is written once for each key; an invoice counts as old while it is unpaid,
 * was written more than 60 days ago, and no agreement for it is in force.
 */
import Sqlite from 'better-sqlite3';
import { prepared } from '../prepared.js';
import { addDays, daysBetween } from './calendar.js';
import { CUSTOMERS } from './customers.js';

export const OLD_DAYS = 60;

export interface OldInvoice {
  readonly invoiceId: string;
  readonly customer: string;
  readonly amountCents: number;
  readonly ageDays: number;
  /** Days on which reminders of it were sent. */
  readonly reminded: readonly string[];
}

export interface Letter {
  readonly letterId: number;
  readonly invoiceId: string;
  readonly customer: string;
  readonly day: string;
  readonly text: string;
  readonly promised: string | null;
  readonly disputed: boolean;
}

export interface Agreement {
  readonly invoiceId: string;
  readonly until: string;
  readonly because: string;
}

export interface Reminder {
  readonly reminderId: number;
  readonly invoiceId: string;
  readonly customer: string;
  readonly day: string;
}

export interface InvoiceSummary {
  readonly invoiceId: string;
  readonly customer: string;
  readonly amountCents: number;
  readonly reminders: number;
  readonly state: string;
}

export interface Ledger {
  /** What customers did up to this day comes in. */
  receive(today: string): void;
  oldInvoices(today: string): readonly OldInvoice[];
  /** Days from tomorrow on which something can change: an agreement ends, an invoice gets old. */
  daysAhead(today: string): readonly string[];
  /** Letters about unpaid invoices without an agreement that was made since. */
  openLetters(): readonly Letter[];
  invoice(invoiceId: string): Omit<OldInvoice, 'ageDays'> | undefined;
  remind(
    key: string,
    reminder: { readonly invoiceId: string; readonly day: string; readonly text: string },
  ): Reminder;
  reminderOf(key: string): Reminder | undefined;
  agree(
    key: string,
    agreement: Agreement & { readonly day: string; readonly by: string },
  ): Agreement;
  agreementOf(key: string): Agreement | undefined;
  /** Every invoice, and what has become of it. */
  summary(today: string): readonly InvoiceSummary[];
  close(): void;
}

const SCHEMA = `
  create table invoices (
    id text primary key, customer text not null, amountCents integer not null, day text not null, paid text
  ) strict;
  create table reminders (
    id integer primary key, key text not null unique, invoiceId text not null, day text not null, text text not null
  ) strict;
  create table letters (
    id integer primary key, invoiceId text not null, day text not null, text text not null, promised text,
    disputed integer not null, unique (invoiceId, day)
  ) strict;
  create table agreements (
    id integer primary key, key text not null unique, invoiceId text not null, day text not null, until text not null,
    because text not null, by text not null
  ) strict;`;

const IN_FORCE = `exists (select 1 from agreements a where a.invoiceId = i.id and a.until >= @today)`;
const OLD = `
  select id as invoiceId, customer, amountCents, day from invoices i
  where paid is null and day < @before and not ${IN_FORCE} order by day`;
const LETTERS = `
  select l.id as letterId, l.invoiceId, i.customer, l.day, l.text, l.promised, l.disputed
  from letters l join invoices i on i.id = l.invoiceId
  where i.paid is null
    and not exists (select 1 from agreements a where a.invoiceId = l.invoiceId and a.day >= l.day)
  order by l.id`;
const SUMMARY = `
  select id as invoiceId, customer, amountCents,
    (select count(*) from reminders r where r.invoiceId = i.id) as reminders,
    case
      when paid is not null then 'paid ' || paid
      when ${IN_FORCE} then (select 'agreed until ' || until || ': ' || because from agreements a where a.invoiceId = i.id order by a.id desc)
      else 'open since ' || day
    end as state
  from invoices i order by id`;
const REMINDER = `
  select r.id as reminderId, r.invoiceId, i.customer, r.day
  from reminders r join invoices i on i.id = r.invoiceId where r.key = ?`;

/** A new ledger; `file` may be `:memory:`. */
export function openLedger(file: string, firstDay: string): Ledger {
  const db = new Sqlite(file);
  db.exec(SCHEMA);
  const insert = prepared(db, 'insert into invoices values (?, ?, ?, ?, null)');
  for (const { invoiceId, customer, amountCents, age } of CUSTOMERS) {
    insert.run(invoiceId, customer, amountCents, addDays(firstDay, -age));
  }
  return {
    ...readingFrom(db),
    ...writingTo(db),
    receive: (today) => receive(db, firstDay, today),
    close: () => void db.close(),
  };
}

type Written = 'remind' | 'reminderOf' | 'agree' | 'agreementOf';

function readingFrom(db: Sqlite.Database): Omit<Ledger, Written | 'receive' | 'close'> {
  return {
    oldInvoices(today) {
      const rows = prepared(db, OLD).all({ today, before: addDays(today, -OLD_DAYS) });
      return (rows as (Omit<OldInvoice, 'ageDays' | 'reminded'> & { readonly day: string })[]).map(
        ({ day, ...row }) => ({
          ...row,
          ageDays: daysBetween(day, today),
          reminded: remindedOf(db, row.invoiceId),
        }),
      );
    },
    daysAhead(today) {
      const ends = `select a.until from agreements a join invoices i on i.id = a.invoiceId where i.paid is null`;
      const written = 'select day from invoices where paid is null';
      const days = [
        ...(prepared(db, ends).pluck().all() as string[]).map((until) => addDays(until, 1)),
        ...(prepared(db, written).pluck().all() as string[]).map((day) =>
          addDays(day, OLD_DAYS + 1),
        ),
      ];
      return [...new Set(days)].filter((day) => day > today).sort();
    },
    openLetters() {
      const rows = prepared(db, LETTERS).all() as (Omit<Letter, 'disputed'> & {
        readonly disputed: number;
      })[];
      return rows.map((row) => ({ ...row, disputed: row.disputed === 1 }));
    },
    invoice(invoiceId) {
      const row = prepared(
        db,
        'select id as invoiceId, customer, amountCents from invoices where id = ?',
      ).get(invoiceId) as Omit<OldInvoice, 'ageDays' | 'reminded'> | undefined;
      return row && { ...row, reminded: remindedOf(db, invoiceId) };
    },
    summary: (today) => prepared(db, SUMMARY).all({ today }) as InvoiceSummary[],
  };
}

function writingTo(db: Sqlite.Database): Pick<Ledger, Written> {
  return {
    remind(key, { invoiceId, day, text }) {
      const once =
        'insert into reminders (key, invoiceId, day, text) values (?, ?, ?, ?) on conflict do nothing';
      prepared(db, once).run(key, invoiceId, day, text);
      return this.reminderOf(key)!;
    },
    reminderOf: (key) => prepared(db, REMINDER).get(key) as Reminder | undefined,
    agree(key, { invoiceId, until, because, day, by }) {
      const once = `insert into agreements (key, invoiceId, day, until, because, by) values (?, ?, ?, ?, ?, ?) on conflict do nothing`;
      prepared(db, once).run(key, invoiceId, day, until, because, by);
      return this.agreementOf(key)!;
    },
    agreementOf: (key) =>
      prepared(db, 'select invoiceId, until, because from agreements where key = ?').get(key) as
        Agreement | undefined,
  };
}

function remindedOf(db: Sqlite.Database, invoiceId: string): readonly string[] {
  const days = prepared(db, 'select day from reminders where invoiceId = ? order by id').pluck();
  return days.all(invoiceId) as string[];
}

function receive(db: Sqlite.Database, firstDay: string, today: string): void {
  const letter = prepared(
    db,
    'insert into letters (invoiceId, day, text, promised, disputed) values (?, ?, ?, ?, ?) on conflict do nothing',
  );
  const payment = prepared(db, 'update invoices set paid = ? where id = ? and paid is null');
  for (const { invoiceId, reacts } of CUSTOMERS) {
    for (const happening of reacts(remindedOf(db, invoiceId), firstDay)) {
      if (happening.day > today) continue;
      if (happening.kind === 'payment') payment.run(happening.day, invoiceId);
      else {
        const { day, text, promised = null, disputed = false } = happening;
        letter.run(invoiceId, day, text, promised, Number(disputed));
      }
    }
  }
}
