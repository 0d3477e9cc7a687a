import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { AIRLINE } from '../../lab/proving/airline/tools';
import { loadDatabase, type Database } from '../../lab/proving/domains/database';
import { runTool } from '../../lab/proving/domains/domain';
import {
  changedRecords,
  createMemoryOverlay,
  openStage,
  type MemoryOverlay,
} from '../../lab/proving/domains/world';
import { matchOutcomes, readExpectedOutcomes } from '../../lab/proving/expected-outcomes';
import { replayRecording } from '../../lab/proving/offline-replay';
import { dumpJson } from '../../lab/proving/python/python-json';
import { objectFromJson } from '../../lab/proving/python/python-value';
import { readRecording } from '../../lab/proving/recording';
import { describeWithMaterial, TAU2, TAU_BENCH } from './material';

type Call = [tool: string, args: Record<string, unknown>];

function call(database: Database, overlay: MemoryOverlay, [name, args]: Call): string {
  const stage = openStage(database, overlay);
  const answer = runTool(AIRLINE, stage, { name, args: objectFromJson(args) });
  if (!answer.error) overlay.keep(stage.staged());
  return answer.content;
}

const DATA = join(TAU_BENCH, 'airline', 'data');
const DATA_AS_RECORDED = join(TAU_BENCH, 'airline', 'data_as_recorded');
const RESERVATION = { reservation_id: 'GV1N64' };

describeWithMaterial('the airline tools', () => {
  test('give every recorded output and record again: 1,164 outputs, 177 writes in 200 runs', () => {
    const recording = readRecording(join(TAU_BENCH, 'trajectories', 'gpt-4o-airline.json'));
    const expected = readExpectedOutcomes(join(TAU_BENCH, 'expected', 'gpt-4o-airline.json'));
    const outcomes = matchOutcomes(recording, expected);
    const database = loadDatabase(AIRLINE, [DATA, DATA_AS_RECORDED]);
    expect(replayRecording({ domain: AIRLINE, database }, recording, outcomes)).toEqual({
      runs: 200,
      outputs: 1_164,
      outputsEqual: 1_164,
      recordsEqual: 200,
      writes: 177,
      writesEqual: true,
      writesWithoutConsent: 54,
      differences: [],
      wrongRecords: [],
    });
  });

  test('give the result of every action of the ground truth', () => {
    const tasksSchema = z.array(
      z.object({
        task_index: z.number(),
        actions: z.array(z.object({ name: z.string(), kwargs: z.record(z.string(), z.unknown()) })),
        action_results: z.array(z.string().nullable()),
      }),
    );
    const text = readFileSync(join(TAU_BENCH, 'airline', 'tasks_test.json'), 'utf8');
    const database = loadDatabase(AIRLINE, [DATA]);
    let done = 0;
    for (const task of tasksSchema.parse(JSON.parse(text))) {
      const overlay = createMemoryOverlay();
      task.actions.forEach(({ name, kwargs }, index) => {
        const content = call(database, overlay, [name, kwargs]);
        const recorded = task.action_results[index] ?? null;
        done += 1;
        if (recorded === null) return;
        expect({ task: task.task_index, content }).toEqual({
          task: task.task_index,
          content: recorded,
        });
      });
    }
    expect(done).toBe(158);
  });

  test('are those of the schema, with its parameters, classes and money', () => {
    const schema = z.array(
      z.object({
        class: z.string(),
        money: z.boolean(),
        schema: z.object({
          function: z.object({
            name: z.string(),
            parameters: z.object({ required: z.array(z.string()) }),
          }),
        }),
      }),
    );
    const text = readFileSync(join(TAU_BENCH, 'airline', 'tools.json'), 'utf8');
    const listed = schema.parse(JSON.parse(text));
    expect(listed).toHaveLength(14);
    for (const entry of listed) {
      const tool = AIRLINE.tools.get(entry.schema.function.name);
      expect({
        name: tool?.name,
        effect: tool?.effect,
        money: tool?.money ?? false,
        parameters: tool?.parameters,
      }).toEqual({
        name: entry.schema.function.name,
        effect: entry.class,
        money: entry.money,
        parameters: entry.schema.function.parameters.required,
      });
    }
    expect([...AIRLINE.tools.values()].filter((tool) => tool.only !== 'tau2')).toHaveLength(14);
  });
});

describeWithMaterial('a second identical call of an airline tool', () => {
  let database: Database;
  let overlay: MemoryOverlay;
  beforeAll(() => {
    database = loadDatabase(AIRLINE, [DATA]);
  });
  beforeEach(() => {
    overlay = createMemoryOverlay();
  });

  const certificate: Call = ['send_certificate', { user_id: 'mia_li_3668', amount: 100 }];
  const booking: Call = [
    'book_reservation',
    {
      user_id: 'mia_li_3668',
      origin: 'JFK',
      destination: 'SEA',
      flight_type: 'one_way',
      cabin: 'economy',
      flights: [{ flight_number: 'HAT083', date: '2024-05-20' }],
      passengers: [{ first_name: 'Mia', last_name: 'Li', dob: '1990-04-05' }],
      payment_methods: [{ payment_id: 'credit_card_4421486', amount: 100 }],
      total_baggages: 0,
      nonfree_baggages: 0,
      insurance: 'no',
    },
  ];

  test.each<[string, Call]>([
    ['cancels and pays back twice', ['cancel_reservation', RESERVATION]],
    ['sends another certificate', certificate],
    ['books and charges again', booking],
  ])('%s', (_, twice) => {
    call(database, overlay, twice);
    const once = dumpJson(changedRecords(database, overlay));
    expect(call(database, overlay, twice)).not.toMatch(/^Error/);
    expect(dumpJson(changedRecords(database, overlay))).not.toBe(once);
  });

  test('has an end: three certificates, three new reservations', () => {
    const last = (again: Call): string => {
      for (let time = 0; time < 3; time += 1) call(database, overlay, again);
      return call(database, overlay, again);
    };
    expect(last(certificate)).toBe('Error: too many certificates');
    expect(last(booking)).toBe('Error: too many reservations');
  });
});

describeWithMaterial('the airline tools of each generation', () => {
  let older: Database;
  let newer: Database;
  beforeAll(() => {
    older = loadDatabase(AIRLINE, [DATA]);
    newer = loadDatabase(AIRLINE, [join(TAU2, 'airline', 'db.reconstructed.json')]);
  });

  test.each<[Call, string, string]>([
    [
      ['get_reservation_details', { reservation_id: 'none' }],
      'user not found',
      'Reservation none not found',
    ],
    [['get_user_details', { user_id: 'none' }], 'user not found', 'User none not found'],
    [
      ['cancel_reservation', { reservation_id: 'none' }],
      'reservation not found',
      'Reservation none not found',
    ],
    [
      ['update_reservation_passengers', { ...RESERVATION, passengers: [] }],
      'number of passengers does not match',
      'Number of passengers does not match',
    ],
    [
      [
        'update_reservation_flights',
        { ...RESERVATION, cabin: 'economy', flights: [{ date: 'x' }], payment_id: 'none' },
      ],
      "'flight_number'",
      '1 validation error for FlightInfo\nflight_number\n  Field required [type=missing, ' +
        "input_value={'date': 'x'}, input_type=dict]\n    For further information visit https://",
    ],
    [
      [
        'update_reservation_flights',
        {
          ...RESERVATION,
          cabin: 'economy',
          flights: [{ flight_number: 'HAT003', date: '2024-05-01' }],
          payment_id: 'none',
        },
      ],
      'flight HAT003 not available on date 2024-05-01',
      'Flight HAT003 not available on date 2024-05-01',
    ],
    [['calculate', { expression: '2 % 2' }], 'invalid characters', 'Invalid characters'],
    [['cancel_reservation', {}], 'CancelReservation.invoke() missing 1', 'AirlineTools.cancel'],
  ])('refuse %j', (refused, olderText, newerText) => {
    const said = (database: Database): string => call(database, createMemoryOverlay(), refused);
    expect(said(older)).toContain(`Error: ${olderText}`);
    expect(said(newer)).toContain(`Error: ${newerText}`);
  });

  test('the newer shows every field of a flight and keeps the new cabin of a reservation', () => {
    const database = newer;
    const overlay = createMemoryOverlay();
    const search: Call = [
      'search_direct_flight',
      { origin: 'JFK', destination: 'SFO', date: '2024-05-24' },
    ];
    expect(call(database, overlay, search)).toBe(
      '[{"flight_number": "HAT023", "origin": "JFK", "destination": "SFO", "status": "available", ' +
        '"scheduled_departure_time_est": "14:00:00", "scheduled_arrival_time_est": "20:00:00", ' +
        '"date": null, "available_seats": {"basic_economy": 9, "economy": 2, "business": 1}, ' +
        '"prices": {"basic_economy": 63, "economy": 163, "business": 235}}]',
    );
    const update: Call = [
      'update_reservation_flights',
      {
        ...RESERVATION,
        cabin: 'basic_economy',
        flights: [
          { flight_number: 'HAT003', date: '2024-05-19' },
          { flight_number: 'HAT290', date: '2024-05-20' },
        ],
        payment_id: 'gift_card_1642017',
      },
    ];
    expect(call(database, overlay, update)).toContain(
      '"cabin": "basic_economy", "flights": [{"flight_number": "HAT003", "origin": "LAS", ' +
        '"destination": "DEN", "date": "2024-05-19", "price": 53}',
    );
    expect(call(database, overlay, ['cancel_reservation', RESERVATION])).toContain(
      '{"payment_id": "gift_card_1642017", "amount": -5244}, ' +
        '{"payment_id": "gift_card_1642017", "amount": -5700}, ' +
        '{"payment_id": "gift_card_1642017", "amount": 5244}]',
    );
    expect(call(database, overlay, ['get_user_details', { user_id: 'mia_li_3668' }])).toContain(
      '{"source": "certificate", "id": "certificate_4856383", "amount": 100.0}',
    );
    const status: Call = ['get_flight_status', { flight_number: 'HAT001', date: '2024-05-03' }];
    expect(call(database, overlay, status)).toBe('cancelled');
  });

  const BOOKING = {
    user_id: 'mia_li_3668',
    origin: 'JFK',
    destination: 'SEA',
    flight_type: 'one_way',
    cabin: 'economy',
    flights: [{ flight_number: 'HAT083', date: '2024-05-20' }],
    passengers: [{ first_name: 'Mia', last_name: 'Li', dob: '1990-04-05', seat: '1A' }],
    payment_methods: [{ payment_id: 'credit_card_4421486', amount: 100 }],
    total_baggages: 0,
    nonfree_baggages: 0,
    insurance: 'no',
  };

  test('a booking takes seats of its cabin in the newer generation alone', () => {
    const seatsLeft = (database: Database): readonly unknown[] => {
      const overlay = createMemoryOverlay();
      const search: Call = [
        'search_direct_flight',
        { origin: 'JFK', destination: 'SEA', date: '2024-05-20' },
      ];
      const offered = (): unknown => {
        const flights = z
          .array(z.looseObject({ flight_number: z.string(), available_seats: z.unknown() }))
          .parse(JSON.parse(call(database, overlay, search)));
        return flights.find(({ flight_number }) => flight_number === 'HAT083')?.available_seats;
      };
      const before = offered();
      const said = call(database, overlay, ['book_reservation', BOOKING]);
      expect(said).toContain('"reservation_id": "HATHAT"');
      return [before, offered(), said.includes('1A')];
    };
    expect(seatsLeft(newer)).toEqual([
      { basic_economy: 16, economy: 7, business: 3 },
      { basic_economy: 16, economy: 6, business: 3 },
      false,
    ]);
    const [before, after, kept] = seatsLeft(older);
    expect(after).toEqual(before);
    expect(kept).toBe(true);
  });

  test('a flight without seats for all is refused once they are taken', () => {
    const overlay = createMemoryOverlay();
    const paid = (passengers: number) => ({
      passengers: Array.from({ length: passengers }, () => BOOKING.passengers[0]),
      payment_methods: [{ payment_id: 'credit_card_4421486', amount: 100 * passengers }],
    });
    const book = (passengers: number): string =>
      call(newer, overlay, ['book_reservation', { ...BOOKING, ...paid(passengers) }]);
    expect(book(5)).not.toMatch(/^Error/);
    expect(book(3)).toBe('Error: Not enough seats on flight HAT083');
  });

  const seat = { flight_number: 'HAT083', date: '2024-05-20' };
  test.each<[string, Record<string, unknown>, string]>([
    [
      'book_reservation',
      { ...BOOKING, cabin: 'first', total_baggages: 'two' },
      "2 validation errors for Reservation\ncabin\n  Input should be 'business', 'economy' or " +
        "'basic_economy' [type=literal_error, input_value='first', input_type=str]\n    For further",
    ],
    [
      'book_reservation',
      { ...BOOKING, payment_methods: [{ payment_id: 'credit_card_4421486', amount: 99.5 }] },
      '1 validation error for Payment\namount\n  Input should be a valid integer, got a number with ' +
        'a fractional part [type=int_from_float, input_value=99.5, input_type=float]',
    ],
    ['book_reservation', { ...BOOKING, passengers: true }, "'bool' object is not iterable"],
    [
      'book_reservation',
      { ...BOOKING, flights: '[]' },
      "'str' object has no attribute 'flight_number'",
    ],
    [
      'update_reservation_flights',
      { ...RESERVATION, cabin: 'first', flights: [seat], payment_id: 'gift_card_1642017' },
      "'first'",
    ],
    [
      'update_reservation_baggages',
      { ...RESERVATION, total_baggages: 1, nonfree_baggages: '1', payment_id: 'x' },
      "unsupported operand type(s) for -: 'str' and 'int'",
    ],
    [
      'update_reservation_passengers',
      { ...RESERVATION, passengers: [{ ...BOOKING.passengers[0], dob: null }] },
      '1 validation error for Passenger\ndob\n  Input should be a valid string',
    ],
    [
      'send_certificate',
      { user_id: 'mia_li_3668', amount: 'much' },
      '1 validation error for Certificate\namount\n  Input should be a valid number, unable to ' +
        "parse string as a number [type=float_parsing, input_value='much', input_type=str]",
    ],
    ['get_reservation_details', { reservation_id: 7 }, 'Reservation 7 not found'],
  ])('the newer %s checks what it is given: %j', (tool, args, said) => {
    const answer = call(newer, createMemoryOverlay(), [tool, args]);
    expect(answer.slice(0, `Error: ${said}`.length)).toBe(`Error: ${said}`);
  });

  test('a refused call leaves nothing behind', () => {
    const database = older;
    const overlay = createMemoryOverlay();
    const refused: Call = [
      'update_reservation_baggages',
      {
        ...RESERVATION,
        total_baggages: 900,
        nonfree_baggages: 900,
        payment_id: 'gift_card_1642017',
      },
    ];
    expect(call(database, overlay, refused)).toBe('Error: gift card balance is not enough');
    expect(changedRecords(database, overlay).size).toBe(0);
  });
});
