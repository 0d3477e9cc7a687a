/** Cancelling and changing a reservation, and making up for one with a certificate. */
import { idArgument, textOf, type BoundArguments } from '../domains/arguments.js';
import {
  listField,
  numberField,
  objectField,
  objectsField,
  textField,
} from '../domains/records.js';
import type { World } from '../domains/world.js';
import { dumpJson } from '../python/python-json.js';
import { multiply, negate, sumOf, subtract } from '../python/python-number.js';
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
import { BAGGAGE_PRICE, editUser, paymentEntry, settleDifference } from './payments.js';
import {
  CERTIFICATE,
  FLIGHT,
  PASSENGER,
  PAYMENT,
  checkedRecords,
  entriesOf,
  recordsIn,
} from './models.js';
import { objectsArgument, priceJourney } from './segments.js';
import { refuse } from './texts.js';

/** The policy is not checked, and a second call reverses every payment once more: so did the recorded tool. */
export function cancelReservation(world: World, args: BoundArguments): string {
  const reservation = editReservation(world, args);
  const history = listField(reservation, 'payment_history');
  const refunds = objectsField(reservation, 'payment_history').map((payment) =>
    paymentEntry({
      id: textField(payment, 'payment_id'),
      amount: negate(numberField(payment, 'amount')),
    }),
  );
  history.push(...refunds);
  reservation.set('status', 'cancelled');
  return dumpJson(reservation);
}

export function updateReservationFlights(world: World, args: BoundArguments): string {
  const newer = world.dialect === 'tau2';
  const checked = newer ? recordsIn(FLIGHT, args, 'flights') : null;
  const reservation = editReservation(world, args);
  const cabin = args.get('cabin') ?? null;
  const passengers = listField(reservation, 'passengers').length;
  const booked = objectsField(reservation, 'flights');
  const sameCabin = reservation.get('cabin') === cabin;
  const priced = priceJourney(world, {
    flights: newer ? checkedRecords(checked, 'flight_number') : objectsArgument(args, 'flights'),
    cabin,
    passengers,
    ...(sameCabin && { kept: booked }),
  });
  const before = multiply(
    sumOf(booked.map((flight) => numberField(flight, 'price'))),
    BigInt(passengers),
  );
  settle(world, reservation, { args, amount: subtract(priced.total, before) });
  reservation.set('flights', priced.flights);
  // The older tool leaves the cabin as it was; its outputs and records show it.
  if (newer) reservation.set('cabin', cabin);
  return dumpJson(reservation);
}

export function updateReservationBaggages(world: World, args: BoundArguments): string {
  const reservation = editReservation(world, args);
  const total =
    world.dialect === 'tau2'
      ? (args.get('total_baggages') ?? null)
      : numberArgument(args, 'total_baggages');
  const nonfree = piecesArgument(world, args);
  const more = subtract(nonfree, numberField(reservation, 'nonfree_baggages'));
  // Fewer pieces are not paid back.
  const amount = more > 0 ? multiply(BAGGAGE_PRICE, more) : 0n;
  settle(world, reservation, { args, amount });
  reservation.set('total_baggages', total);
  reservation.set('nonfree_baggages', nonfree);
  return dumpJson(reservation);
}

/** The newer tool computes with whatever it gets. */
function piecesArgument(world: World, args: BoundArguments): PyNumber {
  const value = args.get('nonfree_baggages') ?? null;
  if (world.dialect !== 'tau2' || isNumber(value)) return numberArgument(args, 'nonfree_baggages');
  if (typeof value === 'boolean') return value ? 1n : 0n;
  throw new ToolError(`unsupported operand type(s) for -: '${typeName(value)}' and 'int'`);
}

export function updateReservationPassengers(world: World, args: BoundArguments): string {
  const newer = world.dialect === 'tau2';
  const checked = newer ? recordsIn(PASSENGER, args, 'passengers') : null;
  const reservation = editReservation(world, args);
  const passengers = newer ? entriesOf(checked) : objectsArgument(args, 'passengers');
  if (passengers.length !== listField(reservation, 'passengers').length) {
    throw refuse(world.dialect, 'passengerCount');
  }
  reservation.set(
    'passengers',
    passengers.map((passenger) => cloneValue(passenger)),
  );
  return dumpJson(reservation);
}

/** The numbers that the recorded tool gives to certificates; a user has no more than these. */
const CERTIFICATES = [3_221_322, 3_221_323, 3_221_324] as const;

export function sendCertificate(world: World, args: BoundArguments): string {
  const id = idArgument(args, 'user_id');
  const amount = args.get('amount') ?? null;
  if (world.dialect !== 'tau2') numberArgument(args, 'amount');
  const methods = objectField(editUser(world, id), 'payment_methods');
  const certificate = CERTIFICATES.map((number) => `certificate_${number}`).find(
    (free) => !methods.has(free),
  );
  if (certificate === undefined) throw refuse(world.dialect, 'tooManyCertificates');
  methods.set(certificate, newCertificate(world, certificate, amount));
  return `Certificate ${certificate} added to user ${id} with amount ${textOf(amount)}.`;
}

function newCertificate(world: World, id: string, amount: PyValue): PyObject {
  const source: readonly [string, PyValue] = ['source', 'certificate'];
  if (world.dialect !== 'tau2') return new Map([source, ['amount', amount], ['id', id]]);
  const float = validated(CERTIFICATE, new Map([['amount', amount]]));
  return new Map([source, ['id', id], ...float]);
}

interface Difference {
  readonly args: BoundArguments;
  readonly amount: PyNumber;
}

function settle(world: World, reservation: PyObject, { args, amount }: Difference): void {
  const id = idArgument(args, 'payment_id');
  const settled = settleDifference(world, reservation, { id, amount });
  if (settled === undefined) return;
  const entry = world.dialect === 'tau2' ? validated(PAYMENT, settled) : settled;
  listField(reservation, 'payment_history').push(entry);
}

/** The run's own copy of the reservation that the call names. */
function editReservation(world: World, args: BoundArguments): PyObject {
  const id = idArgument(args, 'reservation_id');
  const reservation = world.edit('reservations', id);
  if (reservation === undefined) throw refuse(world.dialect, 'reservationNotFound', id);
  return reservation;
}

export function numberArgument(args: BoundArguments, name: string): PyNumber {
  const value = args.get(name) ?? null;
  if (isNumber(value)) return value;
  throw new ToolError(`'${name}' must be a number, not '${typeName(value)}'`);
}
