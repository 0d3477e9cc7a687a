/**
 * Brief payloads, over the kept histories: what their activities were given and answered, there and back again.
 *
 * HOLDFAST_WHOLE=1 takes all of them; HOLDFAST_SEED: of the draw.
 */
import type { Json } from '../../core/json/json.js';
import type { ActivityEffect, ActivityKind, OutputOf } from '../../core/state/effect.js';
import type { ModelRoute } from '../../core/state/model.js';
import { briefInput, wholeInput, withRoute } from '../../core/step/brief-input.js';
import { briefOutput, wholeOutput } from '../../core/step/brief-output.js';
import { routeHash } from '../../core/step/route.js';
import { keptHistories, readKept, rulesFolders } from '../../lab/seal/kept-histories.js';
import { argumentsOf, at, attributesOf, textAt } from '../../recording/history.js';
import { drawn } from '../draw.js';
import { saySeed, SEED, WHOLE } from '../seed.js';

/** Of each rules number. */
const DRAWN = 12;

interface Recorded {
  readonly kind: string;
  readonly input: Json;
  readonly output: Json | undefined;
}

const recorded: readonly Recorded[] = (() => {
  const all = keptHistories();
  const chosen = rulesFolders().flatMap((number) => {
    const same = all.filter(({ rules }) => rules === number);
    return WHOLE ? same : drawn(same, DRAWN, SEED);
  });
  saySeed(`payloads of ${chosen.length} of ${all.length} kept histories`);
  return chosen.flatMap((kept) =>
    readKept(kept).segments.flatMap(({ events }) =>
      events.flatMap((event): readonly Recorded[] => {
        const scheduled = attributesOf(event, 'activityTaskScheduled');
        const kind = textAt(scheduled, 'activityType', 'name');
        if (kind === undefined) return [];
        const ended = events
          .map((one) => attributesOf(one, 'activityTaskCompleted'))
          .find((one) => textAt(one, 'scheduledEventId') === event.eventId);
        const input = argumentsOf(scheduled.input)[0]!;
        if (at(input, 'v') !== 1) return [];
        return [{ kind, input, output: ended && argumentsOf(ended.result)[0] }];
      }),
    ),
  );
})();

/** As a history has it. */
const written = (value: unknown): Json => JSON.parse(JSON.stringify(value)) as Json;

function briefly({ kind, input }: Recorded, route?: string): Json {
  const brief = route === undefined ? {} : { route };
  return written(briefInput({ kind, input, brief } as unknown as ActivityEffect));
}

test('whole again, each input is the one that the workflow gave', () => {
  expect(recorded.length).toBeGreaterThan(500);
  for (const one of recorded) expect(wholeInput(one.kind, briefly(one))).toEqual(one.input);
});

test('a request by the run’s own route does not say the route', () => {
  const asked = recorded.filter(({ kind }) => kind === 'call_model' || kind === 'compact');
  for (const one of asked) {
    const route = at(one.input, 'route') as unknown as ModelRoute;
    const brief = briefly(one, routeHash(route));
    expect(brief).not.toHaveProperty('route');
    expect(withRoute(wholeInput(one.kind, brief) as object, route)).toEqual(one.input);
    expect(briefly(one, 'another')).toHaveProperty('route');
  }
});

test('whoever else asks a model says of which route, also where the run asks by the same', () => {
  const route = { name: 'm', maxOutputTokens: 5 } as ModelRoute;
  const input = { v: 1, run: { tenant: 't', runId: 'r', traceId: 'r' }, route, maxTokens: 5 };
  const one = { kind: 'ask_supervisor', input: written(input), output: undefined };
  expect(briefly(one, routeHash(route))).toMatchObject({ route, maxTokens: 5 });
});

test('inputs of model calls take two thirds of their bytes at most', () => {
  const bytes = (values: readonly Json[]) =>
    values.reduce<number>((sum, value) => sum + JSON.stringify(value).length, 0);
  const asked = recorded.filter(({ kind }) => kind === 'call_model');
  const brief = asked.map((one) =>
    briefly(one, routeHash(at(one.input, 'route') as unknown as ModelRoute)),
  );
  const ratio = bytes(brief) / bytes(asked.map(({ input }) => input));
  expect(ratio).toBeLessThan(2 / 3);
});

test('whole again, each output is the one that the activity answered; a whole one stays', () => {
  const answered = recorded.filter(({ output }) => at(output, 'reply') !== undefined);
  expect(answered.length).toBeGreaterThan(100);
  for (const { kind, output } of answered) {
    const brief = written(briefOutput(kind, 2, output as object));
    const whole = (given: Json) => wholeOutput(kind as ActivityKind, given as never);
    expect(whole(brief)).toEqual(output as unknown as OutputOf<ActivityKind>);
    expect(whole(output!)).toEqual(output as unknown as OutputOf<ActivityKind>);
    expect(briefOutput(kind, 1, output as object)).toBe(output);
  }
});
