/** What is wrong with a written fixture, in words that name the file and the key. */
import type { z } from 'zod';
import { HoldfastError } from '../core/state/errors.js';

const PROBLEMS_MAX = 20;
const KEY_CHARS_MAX = 80;
const VALUES_SHOWN_MAX = 30;

type Issue = z.core.$ZodIssue;
type Path = readonly PropertyKey[];

const CLOSED_LIST = 'Keys and values of a fixture are a closed list; mend the keys that are named.';

export function invalidFixture(
  file: string,
  problems: readonly string[],
  hint = CLOSED_LIST,
): HoldfastError {
  const shown = problems.slice(0, PROBLEMS_MAX).map((problem) => `${file}: ${problem}`);
  const more = problems.length - shown.length;
  const lines = more > 0 ? [...shown, `${file}: and ${more} more`] : shown;
  return new HoldfastError('InvalidFixture', lines.join('\n'), {
    hint,
    details: { file },
  });
}

const UNKNOWN_KEY = 'unknown key';

/** One sentence per problem, each beginning with the path of its key; misspelt keys come first. */
export function problemsOf(error: z.ZodError): readonly string[] {
  const problems = error.issues.flatMap((issue) => inWords(issue, []));
  const isUnknownKey = (problem: string): boolean => problem.endsWith(`: ${UNKNOWN_KEY}`);
  return [
    ...problems.filter(isUnknownKey),
    ...problems.filter((problem) => !isUnknownKey(problem)),
  ];
}

function inWords(issue: Issue, parent: Path): readonly string[] {
  const path = [...parent, ...issue.path];
  switch (issue.code) {
    case 'unrecognized_keys':
      return issue.keys.map((key) => `${pathText([...path, key])}: ${UNKNOWN_KEY}`);
    case 'invalid_union':
      return ofUnion(issue.errors, path);
    default:
      return [`${pathText(path)}: ${judgement(issue)}`];
  }
}

/** The alternative that came furthest says what is wrong; when none did, all say what they want. */
function ofUnion(alternatives: readonly (readonly Issue[])[], path: Path): readonly string[] {
  const furthest = alternatives.find((issues) => issues.some(isInside));
  if (furthest !== undefined) return furthest.flatMap((issue) => inWords(issue, path));
  const wants = alternatives.flatMap((issues) => issues.map(judgement));
  return [`${pathText(path)}: ${wants.join(', or ')}`];
}

function isInside(issue: Issue): boolean {
  return issue.path.length > 0 || issue.code === 'unrecognized_keys';
}

const TYPES: { readonly [type: string]: string } = {
  object: 'an object',
  record: 'an object',
  array: 'a list',
  string: 'a text',
  number: 'a number',
  int: 'a whole number',
  boolean: 'true or false',
};

/** How the schema library begins its own messages; others were written for a person. */
const OWN_WORDS = /^(Invalid|Too |Unrecognized)/;

function judgement(issue: Issue): string {
  if (!OWN_WORDS.test(issue.message)) return issue.message;
  switch (issue.code) {
    case 'invalid_type':
      return issue.message.endsWith('received undefined')
        ? 'is required'
        : `must be ${TYPES[issue.expected] ?? issue.expected}`;
    case 'invalid_value':
      return `must be ${oneOf(issue.values)}`;
    case 'too_small':
      return tooSmall(issue);
    case 'too_big':
      return `must be at most ${String(issue.maximum)}${issue.origin === 'array' ? ' entries' : ''}`;
    default:
      return issue.message;
  }
}

function tooSmall(issue: z.core.$ZodIssueTooSmall): string {
  if (issue.origin === 'string') return 'must not be empty';
  const least = String(issue.minimum);
  if (issue.origin === 'array')
    return `must have at least ${least} ${least === '1' ? 'entry' : 'entries'}`;
  return issue.inclusive === false ? `must be greater than ${least}` : `must be at least ${least}`;
}

function oneOf(values: readonly unknown[]): string {
  const shown = values.slice(0, VALUES_SHOWN_MAX).map((value) => JSON.stringify(value) ?? 'absent');
  if (values.length > shown.length) shown.push('…');
  return shown.length === 1 ? (shown[0] ?? '') : `one of ${shown.join(', ')}`;
}

/** `expected.results.a.code`, `model[0].calls[1]`, `tools["orders.read"]`. */
export function pathText(path: Path): string {
  if (path.length === 0) return 'the fixture';
  return path
    .map((key, index) => {
      if (typeof key === 'number') return `[${key}]`;
      const name = String(key).slice(0, KEY_CHARS_MAX);
      if (!/^[\w-]+$/.test(name)) return `[${JSON.stringify(name)}]`;
      return index === 0 ? name : `.${name}`;
    })
    .join('');
}
