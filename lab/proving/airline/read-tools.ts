/** The tools that look a record up; none of them changes one. */
import { idArgument, type BoundArguments } from '../domains/arguments.js';
import { objectField, textField } from '../domains/records.js';
import type { World } from '../domains/world.js';
import { dumpJson } from '../python/python-json.js';
import { refuse } from './texts.js';

export function getReservationDetails(world: World, args: BoundArguments): string {
  const id = idArgument(args, 'reservation_id');
  const reservation = world.read('reservations', id);
  if (reservation === undefined) throw refuse(world.dialect, 'detailsNotFound', id);
  return dumpJson(reservation);
}

export function getUserDetails(world: World, args: BoundArguments): string {
  const id = idArgument(args, 'user_id');
  const user = world.read('users', id);
  if (user === undefined) throw refuse(world.dialect, 'userNotFound', id);
  return dumpJson(user);
}

export function getFlightStatus(world: World, args: BoundArguments): string {
  const number = idArgument(args, 'flight_number');
  const date = idArgument(args, 'date');
  const flight = world.read('flights', number);
  if (flight === undefined) throw refuse(world.dialect, 'flightNotFound', number);
  const day = objectField(flight, 'dates').get(date);
  if (!(day instanceof Map)) {
    throw refuse(world.dialect, 'flightUnfit', `${number} not found on date ${date}`);
  }
  return textField(day, 'status');
}

/** No table has them: the recorded tool carries its own list, in this order. */
const AIRPORTS: readonly (readonly [string, string])[] = [
  ['SFO', 'San Francisco'],
  ['JFK', 'New York'],
  ['LAX', 'Los Angeles'],
  ['ORD', 'Chicago'],
  ['DFW', 'Dallas'],
  ['DEN', 'Denver'],
  ['SEA', 'Seattle'],
  ['ATL', 'Atlanta'],
  ['MIA', 'Miami'],
  ['BOS', 'Boston'],
  ['PHX', 'Phoenix'],
  ['IAH', 'Houston'],
  ['LAS', 'Las Vegas'],
  ['MCO', 'Orlando'],
  ['EWR', 'Newark'],
  ['CLT', 'Charlotte'],
  ['MSP', 'Minneapolis'],
  ['DTW', 'Detroit'],
  ['PHL', 'Philadelphia'],
  ['LGA', 'LaGuardia'],
];

export function listAllAirports(world: World): string {
  if (world.dialect === 'tau-bench') return dumpJson(new Map(AIRPORTS));
  return dumpJson(
    AIRPORTS.map(
      ([iata, city]) =>
        new Map([
          ['iata', iata],
          ['city', city],
        ]),
    ),
  );
}
