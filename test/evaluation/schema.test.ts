/** The format here and the specification's JSON Schema must accept and refuse the same documents. */
import { existsSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { fixtureDocument } from '../../evaluation/format/document.js';
import { OLDEST_FORM, SAMPLES } from './samples.js';

const SCHEMA = join(__dirname, '..', '..', '..', 'shared', 'spec', 'fixture.schema.json');
/** A dependency of a dependency: nothing of the project itself needs it. */
const VALIDATOR = 'ajv/dist/2020';

type Accepts = (document: unknown) => boolean;

function specification(): Accepts | string {
  if (!existsSync(SCHEMA)) return `${SCHEMA} is absent`;
  try {
    const { Ajv2020 } = createRequire(__filename)(VALIDATOR) as {
      Ajv2020: new (options: object) => { compile(schema: object): Accepts };
    };
    const schema = JSON.parse(readFileSync(SCHEMA, 'utf8')) as object;
    return new Ajv2020({ strict: false }).compile(schema);
  } catch (error) {
    return `no JSON Schema validator: ${String(error)}`;
  }
}

const WRONG_VALUES: readonly unknown[] = [
  null,
  true,
  false,
  0,
  -1,
  1.5,
  '',
  'zzz',
  [],
  {},
  ['zzz'],
  { zzz: 1 },
];

/** Every document that differs from this one in one place. */
function* mutantsOf(value: unknown): Generator<unknown> {
  yield* WRONG_VALUES;
  if (typeof value !== 'object' || value === null) return;
  if (Array.isArray(value)) {
    for (const [index, inner] of value.entries()) {
      yield value.toSpliced(index, 1);
      for (const mutant of mutantsOf(inner)) yield value.with(index, mutant);
    }
    return;
  }
  yield { ...value, unknownKey: 1 };
  for (const [key, inner] of Object.entries(value)) {
    const { [key]: _, ...without } = value as { [key: string]: unknown };
    yield without;
    for (const mutant of mutantsOf(inner)) yield { ...value, [key]: mutant };
  }
}

/** One small document per key of a large one: no key of the top level depends on another. */
function partsOf(sample: object): readonly object[] {
  const { case_id, expected, ...rest } = sample as { [key: string]: unknown };
  const whole = { case_id, expected };
  const least = { case_id, expected: { completed: true } };
  return [whole, ...Object.entries(rest).map(([key, value]) => ({ ...least, [key]: value }))];
}

const accepts = specification();

if (typeof accepts === 'string' && process.env.CI !== 'true') {
  process.stderr.write(`skipped the comparison with the JSON Schema: ${accepts}\n`);
  describe.skip('the format against the JSON Schema', () => undefined);
} else {
  describe('the format against the JSON Schema', () => {
    const specified: Accepts =
      typeof accepts === 'string'
        ? () => {
            throw new Error(accepts);
          }
        : accepts;
    const isAccepted: Accepts = (document) => fixtureDocument.safeParse(document).success;

    test.each([...SAMPLES, OLDEST_FORM])('both accept sample %#', (sample) => {
      expect([specified(sample), isAccepted(sample)]).toEqual([true, true]);
    });

    test('both accept or both refuse every document that differs from a sample in one place', () => {
      const disagreements: string[] = [];
      let compared = 0;
      for (const sample of [...SAMPLES, OLDEST_FORM].flatMap(partsOf)) {
        for (const mutant of mutantsOf(sample)) {
          if (saysThereIsNone(mutant)) continue;
          compared += 1;
          const wanted = specified(mutant);
          if (isAccepted(mutant) !== wanted) {
            disagreements.push(`${wanted ? 'refused' : 'accepted'} ${whatDiffers(sample, mutant)}`);
          }
        }
      }
      expect(disagreements).toEqual([]);
      expect(compared).toBeGreaterThan(4_000);
    });
  });
}

interface Nullable {
  readonly expected?: { readonly answer?: unknown };
  readonly settings?: { readonly fallbackModel?: unknown; readonly tokenBudget?: unknown };
}

/** The project's own words: the specification has none for an answer, a fallback model and a target of tokens that there is not. */
function saysThereIsNone(document: unknown): boolean {
  const { expected, settings } = (document ?? {}) as Nullable;
  const said = [expected?.answer, settings?.fallbackModel, settings?.tokenBudget];
  return said.includes(null);
}

/** The smallest part that differs, for a message that can be read. */
function whatDiffers(a: unknown, b: unknown): string {
  if (typeof a === 'object' && typeof b === 'object' && a !== null && b !== null) {
    const [one, other] = [a, b] as { [key: string]: unknown }[];
    const keys = [...new Set([...Object.keys(a), ...Object.keys(b)])];
    const key = keys.find((name) => JSON.stringify(one?.[name]) !== JSON.stringify(other?.[name]));
    if (key !== undefined && Array.isArray(a) === Array.isArray(b)) {
      return `${key}.${whatDiffers(one?.[key], other?.[key])}`;
    }
  }
  return `${JSON.stringify(b)} for ${JSON.stringify(a)}`.slice(0, 200);
}
