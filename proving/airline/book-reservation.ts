/** Booking a journey: flights, baggage and insurance, paid at once with methods of the user. */
import { idArgument, type BoundArguments } from '../domains/arguments.js';
import { listField, numberField, objectField } from '../domains/records.js';
import type { World } from '../domains/world.js';
import { dumpJson } from '../python/python-json.js';
import { add, formatNumber, multiply, subtract, sumOf } from '../python/python-number.js';
import {
  cloneValue,
  isNumber,
  typeName,
  type PyNumber,
  type PyObject,
  type PyValue,
} from '../python/python-value.js';
import { ToolError } from '../python/tool-error.js';
import {
  BAGGAGE_PRICE,
  editUser,
  INSURANCE_PRICE,
  isCertificate,
  isGiftCard,
  paymentEntry,
  type Payment,
} from './payments.js';
import { numberArgument } from './reservation-tools.js';
import { objectsArgument, priceJourney, required } from './segments.js';
import { refuse } from './texts.js';

/** The recorded tools know no other: ids are not drawn, and the clock stands still. */
const NEW_IDS = ['HATHAT', 'HATHAU', 'HATHAV'] as const;
const NOW = '2024-05-15T15:00:00';

export function bookReservation(world: World, args: BoundArguments): string {
  const userId = idArgument(args, 'user_id');
  const user = editUser(world, userId);
  const id = NEW_IDS.find((free) => world.read('reservations', free) === undefined);
  if (id === undefined) throw refuse(world.dialect, 'tooManyReservations');
  const passengers = objectsArgument(args, 'passengers');
  const priced = priceJourney(world, {
    flights: objectsArgument(args, 'flights'),
    cabin: args.get('cabin') ?? null,
    passengers: passengers.length,
  });
  const price = add(priced.total, extras(args, passengers.length));
  const payments = objectsArgument(args, 'payment_methods').map(paymentOf);
  pay(world, user, { payments, price });
  const reservation = new Map<string, PyValue>([
    ['reservation_id', id],
    ['user_id', userId],
    given(args, 'origin'),
    given(args, 'destination'),
    given(args, 'flight_type'),
    given(args, 'cabin'),
    ['flights', priced.flights],
    ['passengers', passengers.map((passenger) => cloneValue(passenger))],
    ['payment_history', payments.map(paymentEntry)],
    ['created_at', NOW],
    given(args, 'total_baggages'),
    given(args, 'nonfree_baggages'),
    given(args, 'insurance'),
    ...(world.dialect === 'tau2' ? [['status', null] as const] : []),
  ]);
  world.add('reservations', id, reservation);
  listField(user, 'reservations').push(id);
  return dumpJson(reservation);
}

function given(args: BoundArguments, name: string): readonly [string, PyValue] {
  return [name, args.get(name) ?? null];
}

function extras(args: BoundArguments, passengers: number): PyNumber {
  const baggage = multiply(BAGGAGE_PRICE, numberArgument(args, 'nonfree_baggages'));
  if (args.get('insurance') !== 'yes') return baggage;
  return add(baggage, multiply(INSURANCE_PRICE, BigInt(passengers)));
}

function paymentOf(named: PyObject): Payment {
  const id = required(named, 'payment_id');
  const amount = named.get('amount');
  if (amount === undefined) throw new ToolError("'amount'");
  if (!isNumber(amount))
    throw new ToolError(`'amount' must be a number, not '${typeName(amount)}'`);
  return { id, amount };
}

interface Bill {
  readonly payments: readonly Payment[];
  readonly price: PyNumber;
}

/** Checks all payments before the first of them takes anything. */
function pay(world: World, user: PyObject, { payments, price }: Bill): void {
  const methods = objectField(user, 'payment_methods');
  const used = payments.map((payment) => {
    const method = methods.get(payment.id);
    if (!(method instanceof Map)) throw refuse(world.dialect, 'paymentMethodMissing', payment.id);
    const limited = isGiftCard(method) || isCertificate(method);
    if (limited && numberField(method, 'amount') < payment.amount) {
      throw refuse(world.dialect, 'balance', payment.id);
    }
    return { ...payment, method };
  });
  const paid = sumOf(payments.map(({ amount }) => amount));
  if (Number(paid) !== Number(price)) {
    const sums = `total price is ${formatNumber(price)}, but paid ${formatNumber(paid)}`;
    throw refuse(world.dialect, 'wrongSum', sums);
  }
  for (const { id, amount, method } of used) {
    if (isGiftCard(method)) method.set('amount', subtract(numberField(method, 'amount'), amount));
    // What is left on a certificate is lost.
    if (isCertificate(method)) methods.delete(id);
  }
}
