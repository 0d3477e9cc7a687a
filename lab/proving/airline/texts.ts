/** What the tools answer when they refuse, word for word as each generation of the benchmark does. */
import type { Dialect } from '../domains/database.js';
import { ToolError } from '../python/tool-error.js';

type Wording = (subject: string) => string;

interface Pair {
  readonly tau2: Wording;
  readonly 'tau-bench': Wording;
}

/** Most refusals differ only in their first letter. */
function alike(wording: Wording): Pair {
  return {
    tau2: wording,
    'tau-bench': (subject) => {
      const text = wording(subject);
      return `${text.charAt(0).toLowerCase()}${text.slice(1)}`;
    },
  };
}

/** tau2 says which one is missing. */
function missing(kind: string): Pair {
  return {
    tau2: (id) => `${kind} ${id} not found`,
    'tau-bench': () => `${kind.toLowerCase()} not found`,
  };
}

const REFUSALS = {
  userNotFound: missing('User'),
  reservationNotFound: missing('Reservation'),
  /** Reading a reservation that is not there; the older tool speaks of a user. */
  detailsNotFound: {
    tau2: (id: string) => `Reservation ${id} not found`,
    'tau-bench': () => 'user not found',
  },
  flightNotFound: alike((flight) => `Flight ${flight} not found`),
  flightUnfit: alike((flightAndReason) => `Flight ${flightAndReason}`),
  noSeats: alike((flight) => `Not enough seats on flight ${flight}`),
  paymentMethodMissing: alike((id) => `Payment method ${id} not found`),
  balance: alike((id) => `Not enough balance in payment method ${id}`),
  wrongSum: alike((sums) => `Payment amount does not add up, ${sums}`),
  noPaymentMethod: alike(() => 'Payment method not found'),
  certificateForUpdate: alike(() => 'Certificate cannot be used to update reservation'),
  giftCardBalance: alike(() => 'Gift card balance is not enough'),
  passengerCount: alike(() => 'Number of passengers does not match'),
  tooManyReservations: alike(() => 'Too many reservations'),
  tooManyCertificates: alike(() => 'Too many certificates'),
} satisfies Record<string, Pair>;

export type Refusal = keyof typeof REFUSALS;

/** The refusal as an error to throw; `subject` is what some of the texts name. */
export function refuse(dialect: Dialect, refusal: Refusal, subject = ''): ToolError {
  // An id that was no text carries a line break, so that no record has it.
  return new ToolError(REFUSALS[refusal][dialect](subject.replace(/^\n/, '')));
}
