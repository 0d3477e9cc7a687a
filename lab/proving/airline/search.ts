/** Searching the flights that can be booked between two airports, direct or with one stop. */
import type { BoundArguments } from '../domains/arguments.js';
import type { Dialect } from '../domains/database.js';
import { objectField, textField } from '../domains/records.js';
import type { World } from '../domains/world.js';
import { dumpJson } from '../python/python-json.js';
import { typeName, type PyObject, type PyValue } from '../python/python-value.js';
import { ToolError } from '../python/tool-error.js';

export function searchDirectFlight(world: World, args: BoundArguments): string {
  const date = dateArgument(world, args);
  const found: PyObject[] = [];
  for (const [, flight] of world.records('flights')) {
    if (!leads(world, flight, { args, end: 'origin' })) continue;
    if (!leads(world, flight, { args, end: 'destination' })) continue;
    const day = bookableDay(flight, date);
    if (day !== undefined) found.push(offer(world.dialect, { flight, day }));
  }
  return dumpJson(found);
}

/** Every first flight with every second one that leaves after it has arrived, in the order of the table. */
export function searchOnestopFlight(world: World, args: BoundArguments): string {
  const date = dateArgument(world, args);
  const flights = [...world.records('flights')].map(([, flight]) => flight);
  const lasts = flights.filter((flight) => leads(world, flight, { args, end: 'destination' }));
  const found: PyObject[][] = [];
  for (const first of flights) {
    if (!leads(world, first, { args, end: 'origin' })) continue;
    const firstDay = bookableDay(first, date);
    if (firstDay === undefined) continue;
    for (const last of lasts) {
      if (!goes(last, 'origin', first.get('destination'))) continue;
      if (textField(first, ARRIVAL) > textField(last, DEPARTURE)) continue;
      const lastDate = textField(first, ARRIVAL).includes('+1') ? dayAfter(date) : date;
      // The older tool names the next day, but looks at the seats and prices of the first.
      const lastDay = bookableDay(last, world.dialect === 'tau2' ? lastDate : date);
      if (lastDay === undefined) continue;
      found.push([
        offer(world.dialect, { flight: first, day: firstDay, date }),
        offer(world.dialect, { flight: last, day: lastDay, date: lastDate }),
      ]);
    }
  }
  return dumpJson(found);
}

const DEPARTURE = 'scheduled_departure_time_est';
const ARRIVAL = 'scheduled_arrival_time_est';

function goes(flight: PyObject, end: 'origin' | 'destination', airport: PyValue | undefined) {
  return flight.get(end) === airport;
}

/** Whether a flight has this end; the newer tool takes any where none is named. */
function leads(
  world: World,
  flight: PyObject,
  { args, end }: { readonly args: BoundArguments; readonly end: 'origin' | 'destination' },
): boolean {
  const airport = args.get(end);
  return (world.dialect === 'tau2' && airport === null) || goes(flight, end, airport);
}

/** The flight's day, when it can be booked on it. */
function bookableDay(flight: PyObject, date: string): PyObject | undefined {
  const day = objectField(flight, 'dates').get(date);
  return day instanceof Map && day.get('status') === 'available' ? day : undefined;
}

interface Offer {
  readonly flight: PyObject;
  readonly day: PyObject;
  /** Left out where all flights are of the date that was asked for. */
  readonly date?: string;
}

function offer(dialect: Dialect, { flight, day, date }: Offer): PyObject {
  if (dialect === 'tau-bench') {
    const shown = [...flight].filter(([field]) => field !== 'dates');
    return new Map([...shown, ...day, ...(date === undefined ? [] : [['date', date] as const])]);
  }
  const fields = ['flight_number', 'origin', 'destination'] as const;
  return new Map<string, PyValue>([
    ...fields.map((field) => [field, flight.get(field) ?? null] as const),
    ['status', day.get('status') ?? null],
    [DEPARTURE, flight.get(DEPARTURE) ?? null],
    [ARRIVAL, flight.get(ARRIVAL) ?? null],
    ['date', date ?? null],
    ['available_seats', day.get('available_seats') ?? null],
    ['prices', day.get('prices') ?? null],
  ]);
}

/** A date that is no text is no day of any flight; the older tool cannot even compare it. */
function dateArgument({ dialect }: World, args: BoundArguments): string {
  const date = args.get('date') ?? null;
  if (typeof date === 'string') return date;
  const comparable = dialect === 'tau2' && !Array.isArray(date) && !(date instanceof Map);
  if (comparable) return '';
  throw new ToolError(`unhashable type: '${typeName(date)}'`);
}

/** The table covers one month only, and so does the recorded arithmetic, which writes no leading zero. */
function dayAfter(date: string): string {
  return `2024-05-${Number(date.slice(-2)) + 1}`;
}
