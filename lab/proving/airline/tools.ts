/**
 * The airline tools by name: 14 of tau-bench, of which tau2-bench drops `think` and adds
 * `get_flight_status`.
 *
 * Ground truth are recorded outputs: all of tau-bench's are tested; what tau2-bench changed (seats that are taken,
 * arguments that are checked, its words) is tested by examples, for want of a recording beside the project.
 */
import type { Dialect, Table } from '../domains/database.js';
import { byName, type Domain, type DomainTool } from '../domains/domain.js';
import * as shared from '../domains/shared-tools.js';
import { objectField, objectsField } from '../domains/records.js';
import { isNumber, type PyObject, type PyValue } from '../python/python-value.js';
import { bookReservation } from './book-reservation.js';
import * as read from './read-tools.js';
import {
  cancelReservation,
  sendCertificate,
  updateReservationBaggages,
  updateReservationFlights,
  updateReservationPassengers,
} from './reservation-tools.js';
import { searchDirectFlight, searchOnestopFlight } from './search.js';

const ROUTE = ['origin', 'destination', 'date'] as const;

const TOOLS: readonly DomainTool[] = [
  {
    name: 'book_reservation',
    effect: 'write',
    money: true,
    parameters: [
      'user_id',
      'origin',
      'destination',
      'flight_type',
      'cabin',
      'flights',
      'passengers',
      'payment_methods',
      'total_baggages',
      'nonfree_baggages',
      'insurance',
    ],
    run: bookReservation,
  },
  { name: 'calculate', effect: 'pure', parameters: ['expression'], run: shared.calculate },
  {
    name: 'cancel_reservation',
    effect: 'write',
    money: true,
    parameters: ['reservation_id'],
    run: cancelReservation,
  },
  {
    name: 'get_flight_status',
    effect: 'read',
    parameters: ['flight_number', 'date'],
    only: 'tau2',
    run: read.getFlightStatus,
  },
  {
    name: 'get_reservation_details',
    effect: 'read',
    parameters: ['reservation_id'],
    run: read.getReservationDetails,
  },
  { name: 'get_user_details', effect: 'read', parameters: ['user_id'], run: read.getUserDetails },
  { name: 'list_all_airports', effect: 'read', parameters: [], run: read.listAllAirports },
  { name: 'search_direct_flight', effect: 'read', parameters: ROUTE, run: searchDirectFlight },
  { name: 'search_onestop_flight', effect: 'read', parameters: ROUTE, run: searchOnestopFlight },
  {
    name: 'send_certificate',
    effect: 'write',
    money: true,
    parameters: ['user_id', 'amount'],
    run: sendCertificate,
  },
  {
    name: 'think',
    effect: 'pure',
    parameters: ['thought'],
    only: 'tau-bench',
    run: shared.think,
  },
  {
    name: 'transfer_to_human_agents',
    effect: 'control',
    parameters: ['summary'],
    run: shared.transferToHumanAgents,
  },
  {
    name: 'update_reservation_baggages',
    effect: 'write',
    money: true,
    parameters: ['reservation_id', 'total_baggages', 'nonfree_baggages', 'payment_id'],
    run: updateReservationBaggages,
  },
  {
    name: 'update_reservation_flights',
    effect: 'write',
    money: true,
    parameters: ['reservation_id', 'cabin', 'flights', 'payment_id'],
    run: updateReservationFlights,
  },
  {
    name: 'update_reservation_passengers',
    effect: 'write',
    parameters: ['reservation_id', 'passengers'],
    run: updateReservationPassengers,
  },
];

/** Customer service of an airline: journeys are booked, changed, cancelled and made up for. */
export const AIRLINE: Domain = {
  name: 'airline',
  className: 'AirlineTools',
  tables: ['flights', 'reservations', 'users'],
  tools: byName(TOOLS),
  shown,
};

/** tau2 shows a status of every reservation, null while it stands, and balances as floats. */
function shown(dialect: Dialect, table: Table, record: PyObject): PyObject {
  if (dialect !== 'tau2' || table === 'flights') return record;
  if (table === 'users') {
    const methods = [...objectField(record, 'payment_methods')].map(shownMethod);
    return new Map([...record, ['payment_methods', new Map(methods)]]);
  }
  const flights = objectsField(record, 'flights').map((flight) => inOrder(flight, FLIGHT_FIELDS));
  return new Map<string, PyValue>([
    ...record,
    ['flights', flights],
    ['status', record.get('status') ?? null],
  ]);
}

const FLIGHT_FIELDS = ['flight_number', 'origin', 'destination', 'date', 'price'] as const;
const METHOD_FIELDS = ['source', 'id', 'brand', 'last_four', 'amount'] as const;

function shownMethod([id, method]: readonly [string, PyValue]): [string, PyValue] {
  if (!(method instanceof Map)) return [id, method];
  const amount = method.get('amount');
  const float: PyObject = isNumber(amount)
    ? new Map<string, PyValue>([...method, ['amount', Number(amount)]])
    : method;
  return [id, inOrder(float, METHOD_FIELDS)];
}

/** The fields in this order; those that the record does not have are left out. */
function inOrder(record: PyObject, fields: readonly string[]): PyObject {
  const present = fields.filter((field) => record.has(field));
  return new Map(present.map((field) => [field, record.get(field) ?? null]));
}
