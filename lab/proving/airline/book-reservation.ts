/** Booking a journey: flights, baggage and insurance, paid at once with methods of the user. */
import { idArgument, type BoundArguments } from '../domains/arguments.js';
import {
  listField,
  numberField,
  objectField,
  objectsField,
  textField,
} from '../domains/records.js';
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
import { validated } from '../python/validation.js';
import {
  BAGGAGE_PRICE,
  editUser,
  INSURANCE_PRICE,
  isCertificate,
  isGiftCard,
  paymentEntry,
  type Payment,
} from './payments.js';
import { FLIGHT, PASSENGER, PAYMENT, RESERVATION, checkedRecords, recordsIn } from './models.js';
import { numberArgument } from './reservation-tools.js';
import { objectsArgument, priceJourney, required } from './segments.js';
import { refuse } from './texts.js';

/** The recorded tools know no other: ids are not drawn, and the clock stands still. */
const NEW_IDS = ['HATHAT', 'HATHAU', 'HATHAV'] as const;
const NOW = '2024-05-15T15:00:00';

export function bookReservation(world: World, given: BoundArguments): string {
  const wanted = world.dialect === 'tau2' ? checkedBooking(given) : looseBooking(given);
  const userId = idArgument(given, 'user_id');
  const user = editUser(world, userId);
  const id = NEW_IDS.find((free) => world.read('reservations', free) === undefined);
  if (id === undefined) throw refuse(world.dialect, 'tooManyReservations');
  const { args, passengers, payments } = wanted();
  const priced = priceJourney(world, {
    flights: flightsOf(world, args),
    cabin: args.get('cabin') ?? null,
    passengers: passengers.length,
  });
  const price = add(priced.total, extras(args, passengers.length));
  const due = { payments: payments(), price };
  pay(world, user, due);
  if (world.dialect === 'tau2') takeSeats(world, args, priced.flights);
  const field = (name: string): readonly [string, PyValue] => [name, args.get(name) ?? null];
  const reservation = new Map<string, PyValue>([
    ['reservation_id', id],
    ['user_id', userId],
    field('origin'),
    field('destination'),
    field('flight_type'),
    field('cabin'),
    ['flights', priced.flights],
    ['passengers', passengers.map((passenger) => cloneValue(passenger))],
    ['payment_history', due.payments.map(paymentEntry)],
    ['created_at', NOW],
    field('total_baggages'),
    field('nonfree_baggages'),
    field('insurance'),
    ...(world.dialect === 'tau2' ? [['status', null] as const] : []),
  ]);
  world.add('reservations', id, reservation);
  listField(user, 'reservations').push(id);
  return dumpJson(reservation);
}

interface Booking {
  readonly args: BoundArguments;
  readonly passengers: readonly PyObject[];
  /** Asked for once the journey is priced: the older tool finds fault with them only then. */
  readonly payments: () => readonly Payment[];
}

/** Each step finds fault where the recorded tool does: before the user is looked up, and after. */
type Steps = () => Booking;

/** The older tool takes what a call says as it is. */
function looseBooking(args: BoundArguments): Steps {
  return () => ({
    args,
    passengers: objectsArgument(args, 'passengers'),
    payments: () => objectsArgument(args, 'payment_methods').map(paymentOf),
  });
}

function checkedBooking(given: BoundArguments): Steps {
  const flights = recordsIn(FLIGHT, given, 'flights');
  const passengers = recordsIn(PASSENGER, given, 'passengers');
  const payments = recordsIn(PAYMENT, given, 'payment_methods');
  return () => {
    const said = new Map([...given, ['passengers', passengers], ['payment_history', payments]]);
    const record = validated(RESERVATION, said);
    return {
      args: new Map([...record, ['flights', flights]]),
      passengers: objectsField(record, 'passengers'),
      payments: () => objectsField(record, 'payment_history').map(paymentOf),
    };
  };
}

function flightsOf(world: World, args: BoundArguments): PyObject[] {
  if (world.dialect !== 'tau2') return objectsArgument(args, 'flights');
  return checkedRecords(args.get('flights') ?? null, 'flight_number');
}

/** One seat of the cabin for each passenger, on each flight. */
function takeSeats(world: World, args: BoundArguments, flights: readonly PyObject[]): void {
  const cabin = textField(args as PyObject, 'cabin');
  const passengers = BigInt(listField(args as PyObject, 'passengers').length);
  for (const booked of flights) {
    const flight = world.edit('flights', textField(booked, 'flight_number'));
    if (flight === undefined) continue;
    const day = objectField(objectField(flight, 'dates'), textField(booked, 'date'));
    const seats = objectField(day, 'available_seats');
    seats.set(cabin, subtract(numberField(seats, cabin), passengers));
  }
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
