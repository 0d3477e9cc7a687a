/** What the ledger says at the end: not what anybody claims. */
import { inert, table } from '../../cli/render/index.js';
import type { Terminal } from '../demo/terminal.js';
import type { Ledger } from './ledger.js';

export function reportLedger(
  { say, paint }: Terminal,
  { ledger, today }: { readonly ledger: Ledger; readonly today: string },
): void {
  const rows = ledger
    .summary(today)
    .map(({ invoiceId, customer, amountCents, reminders, state }) => [
      invoiceId,
      inert(customer),
      `${(amountCents / 100).toFixed(2)} EUR`,
      String(reminders),
      state,
    ]);
  say();
  say(`The ledger on ${today}:`);
  say(table({ head: ['invoice', 'customer', 'amount', 'reminders', 'state'], rows, paint }));
}
