/** Rules as data, applied to something that is no run. */
import type { Carrier } from '../../../core/state/carrier.js';
import type { Step } from '../../../core/state/run.js';
import {
  advance,
  firstOf,
  ROUNDS_MAX,
  rule,
  type Rule,
  type Rulebook,
} from '../../../core/step/advance.js';
import { FIRST_RULES, RULES_VERSION } from '../../../core/step/changes.js';
import { cancelTimer, finish, only, startTimer } from '../../../core/step/inflight.js';

interface Kettle extends Carrier {
  readonly water: number;
  readonly on: boolean;
  readonly seenBy: readonly (string | undefined)[];
}

const COLD: Kettle = {
  rules: RULES_VERSION,
  now: 0,
  inflight: {},
  nextEffect: 0,
  outbox: { nextSeq: 0, events: [] },
  segment: { number: 0, full: false, opened: true },
  water: 0,
  on: false,
  seenBy: [],
};

const seen = (kettle: Kettle): Kettle => ({ ...kettle, seenBy: [...kettle.seenBy, kettle.rule] });
const MADE = { holds: 'nothing', since: 1 } as const;

const RULES = [
  rule('fill', {
    ...MADE,
    says: 'An empty kettle is filled.',
    apply: (kettle: Kettle) => (kettle.water > 0 ? undefined : only({ ...seen(kettle), water: 1 })),
  }),
  rule('wait', {
    ...MADE,
    says: 'A kettle that is on is waited for.',
    apply: (kettle: Kettle) => (kettle.on ? 'hold' : undefined),
  }),
  rule('boil', {
    ...MADE,
    says: 'A full kettle is switched on.',
    apply(kettle: Kettle): Step<Kettle> {
      const timed = startTimer(seen(kettle), { at: 100, summary: 'boils' });
      return { ...timed, run: { ...timed.run, on: true } };
    },
  }),
] as const satisfies readonly Rule<string, Kettle, [kettle: Kettle]>[];

const BOOK: Rulebook<Kettle, string> = {
  firing(given) {
    const fired = firstOf(RULES, { ...given });
    return fired === 'hold' ? undefined : fired;
  },
  withoutOversized: () => undefined,
  atRest: (step) => step,
};

test('the first rule that fires decides, until one holds', () => {
  const decided = advance(BOOK, COLD);
  expect(decided.rules).toEqual(['fill', 'boil']);
  expect(decided.effects).toEqual([{ kind: 'timer', id: 'timer-0', at: 100, summary: 'boils' }]);
  expect(decided.run).toMatchObject({ water: 1, on: true, nextEffect: 1 });
  expect(advance(BOOK, decided.run)).toMatchObject({ rules: [], effects: [] });
});

test('a rule finds its name in what it looks at, and nobody else does', () => {
  const { run } = advance(BOOK, COLD);
  expect(run.seenBy).toEqual(['fill', 'boil']);
  expect(run).not.toHaveProperty('rule');
  expect(COLD).not.toHaveProperty('rule');
  expect(advance(BOOK, { ...COLD, rules: FIRST_RULES }).run.seenBy).toEqual([undefined, undefined]);
});

test('timers of any carrier end by an input or by a cancel', () => {
  const { run } = advance(BOOK, COLD);
  expect(finish(run, 'timer-0').inflight).toEqual({});
  expect(cancelTimer(run, 'timer-0')).toMatchObject({
    run: { inflight: {} },
    effects: [{ kind: 'cancel', target: 'timer-0' }],
  });
});

test('rules that fire for ever are a bug that says so', () => {
  const endless = rule('again', {
    ...MADE,
    says: 'For ever.',
    apply: (kettle: Kettle) => only(kettle),
  });
  const book: Rulebook<Kettle, string> = {
    ...BOOK,
    firing: (given) => firstOf([endless], { ...given }) as never,
  };
  expect(() => advance(book, COLD)).toThrow(`did not come to rest in ${ROUNDS_MAX} rounds`);
});
