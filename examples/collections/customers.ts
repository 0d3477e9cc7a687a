/**
 * The customers, who live outside of the goal: what they do once they were reminded. Their answers and payments depend on
 * the letters that the ledger has, and on nothing else.
 */
import { addDays } from './calendar.js';

export interface CustomerRecord {
  readonly customer: string;
  readonly invoiceId: string;
  readonly amountCents: number;
  /** Days between the invoice's date and the first day; negative: it is written later. */
  readonly age: number;
  readonly reacts: Reaction;
}

/** What comes of the reminders that were sent so far; days in the order in which they were sent. */
export type Reaction = (reminded: readonly string[], firstDay: string) => readonly Happening[];

export type Happening =
  | { readonly kind: 'payment'; readonly day: string }
  | {
      readonly kind: 'letter';
      readonly day: string;
      readonly text: string;
      /** When the customer wants to pay. */
      readonly promised?: string;
      readonly disputed?: true;
    };

/** The day on which a dispute is settled, counted from the first. */
export const SETTLED_AFTER = 45;

export const CUSTOMERS: readonly CustomerRecord[] = [
  {
    customer: 'Ada Bakery',
    invoiceId: 'INV-101',
    amountCents: 24_000,
    age: 75,
    // Forgot it.
    reacts: ([first]) => (first === undefined ? [] : [paid(addDays(first, 4))]),
  },
  {
    customer: 'Birch Books',
    invoiceId: 'INV-102',
    amountCents: 31_000,
    age: 64,
    // Asks for time, and keeps to it.
    reacts: ([first], firstDay) =>
      first === undefined
        ? []
        : [promise(addDays(first, 2), addDays(firstDay, 24)), paid(addDays(firstDay, 24))],
  },
  {
    customer: 'Cedar Clinic',
    invoiceId: 'INV-103',
    amountCents: 480_000,
    age: 70,
    // Disputes it; pays what was settled.
    reacts: ([first], firstDay) =>
      first === undefined
        ? []
        : [
            {
              kind: 'letter',
              day: addDays(first, 3),
              text: 'The machine was broken when it came. We do not pay before somebody has talked to us.',
              disputed: true,
            },
            paid(addDays(firstDay, SETTLED_AFTER)),
          ],
  },
  {
    customer: 'Dune Tours',
    invoiceId: 'INV-104',
    amountCents: 125_000,
    age: 62,
    // Breaks a promise, and pays when reminded of it.
    reacts: ([first, second], firstDay) => [
      ...(first === undefined ? [] : [promise(addDays(first, 1), addDays(firstDay, 20))]),
      ...(second === undefined ? [] : [paid(addDays(second, 6))]),
    ],
  },
  {
    customer: 'Elm Garage',
    invoiceId: 'INV-105',
    amountCents: 9_000,
    age: 90,
    // Never answers: a person has to decide what is done about it.
    reacts: () => [],
  },
  {
    customer: 'Fir Studio',
    invoiceId: 'INV-106',
    amountCents: 50_000,
    age: 20,
    reacts: ([first]) => (first === undefined ? [] : [paid(addDays(first, 3))]),
  },
  {
    customer: 'Gorse Gym',
    invoiceId: 'INV-107',
    amountCents: 70_000,
    age: -2,
    // Silent for long, and then promises.
    reacts: ([first], firstDay) =>
      first === undefined ? [] : [promise(addDays(first, 24), addDays(firstDay, 100))],
  },
];

function paid(day: string): Happening {
  return { kind: 'payment', day };
}

function promise(day: string, promised: string): Happening {
  return { kind: 'letter', day, text: `We will pay on ${promised}.`, promised };
}
