/** The flights of a journey as a call names them: looked up, checked for seats, and priced. */
import { ToolError } from '../python/tool-error.js';
import { repr } from '../python/python-repr.js';
import { add, multiply } from '../python/python-number.js';
import { typeName, type PyNumber, type PyObject, type PyValue } from '../python/python-value.js';
import type { BoundArguments } from '../domains/arguments.js';
import { numberField, objectField } from '../domains/records.js';
import type { World } from '../domains/world.js';
import { refuse } from './texts.js';

export interface Journey {
  readonly flights: readonly PyObject[];
  readonly cabin: PyValue;
  readonly passengers: number;
  /** Flights that are booked already in this cabin: they keep their price and need no seat. */
  readonly kept?: readonly PyObject[];
}

export interface PricedJourney {
  readonly flights: PyObject[];
  /** For all passengers. */
  readonly total: PyNumber;
}

/** Prices a journey; refuses flights that cannot be booked. */
export function priceJourney(world: World, journey: Journey): PricedJourney {
  let total: PyNumber = 0n;
  const flights = journey.flights.map((named) => {
    const number = required(named, 'flight_number');
    const date = required(named, 'date');
    const kept = journey.kept?.find(
      (flight) => flight.get('flight_number') === number && flight.get('date') === date,
    );
    const flight = kept ?? bookedFlight(world, { number, date, journey });
    const price = numberField(flight, 'price');
    total = add(total, multiply(price, BigInt(journey.passengers)));
    return shownFlight(world, named, flight);
  });
  return { flights, total };
}

interface NamedFlight {
  readonly number: string;
  readonly date: string;
  readonly journey: Journey;
}

function bookedFlight(world: World, { number, date, journey }: NamedFlight): PyObject {
  const flight = world.read('flights', number);
  if (flight === undefined) throw refuse(world.dialect, 'flightNotFound', number);
  const day = objectField(flight, 'dates').get(date);
  if (!(day instanceof Map)) {
    throw refuse(world.dialect, 'flightUnfit', `${number} not found on date ${date}`);
  }
  if (day.get('status') !== 'available') {
    throw refuse(world.dialect, 'flightUnfit', `${number} not available on date ${date}`);
  }
  const seats = objectField(day, 'available_seats');
  const cabin = cabinIn(seats, journey.cabin);
  if (numberField(seats, cabin) < journey.passengers) {
    throw refuse(world.dialect, 'noSeats', number);
  }
  return new Map<string, PyValue>([
    ['origin', flight.get('origin') ?? null],
    ['destination', flight.get('destination') ?? null],
    ['price', numberField(objectField(day, 'prices'), cabin)],
  ]);
}

/** The flight as a reservation keeps it; the older tool adds to whatever the call said of it. */
function shownFlight(world: World, named: PyObject, flight: PyObject): PyObject {
  const field = (name: string) => [name, flight.get(name) ?? null] as const;
  if (world.dialect === 'tau-bench') {
    return new Map([...named, field('price'), field('origin'), field('destination')]);
  }
  return new Map([
    ['flight_number', named.get('flight_number') ?? null],
    field('origin'),
    field('destination'),
    ['date', named.get('date') ?? null],
    field('price'),
  ]);
}

function cabinIn(seats: PyObject, cabin: PyValue): string {
  if (typeof cabin === 'string' && seats.has(cabin)) return cabin;
  if (Array.isArray(cabin) || cabin instanceof Map) {
    throw new ToolError(`unhashable type: '${typeName(cabin)}'`);
  }
  throw new ToolError(repr(cabin));
}

/** A field that the tool asks of an object in its arguments. */
export function required(named: PyObject, field: string): string {
  const value = named.get(field);
  if (value === undefined) throw new ToolError(`'${field}'`);
  if (typeof value === 'string') return value;
  throw new ToolError(`unhashable type: '${typeName(value)}'`);
}

/** An argument that is a list of objects. */
export function objectsArgument(args: BoundArguments, name: string): PyObject[] {
  const value = args.get(name) ?? null;
  if (!Array.isArray(value)) throw new ToolError(`'${typeName(value)}' object is not a list`);
  return value.map((entry) => {
    if (entry instanceof Map) return entry;
    throw new ToolError(`'${typeName(entry)}' object is not a dict`);
  });
}
