/**
 * The form of a server's question, filled in where the person types: one field after the other.
 * Invariants: a field is asked again until its value fits its bounds; nothing goes anywhere before all fields fit together;
 * an address is shown and never opened.
 */
import { answerProblem } from '../../connectors/index.js';
import { isRecord } from '../../core/json/shape.js';
import type { Json } from '../../core/json/json.js';
import type { Elicitation } from '../../core/state/elicitation.js';
import { oneOfChoices, someOfChoices, type NamedChoice } from '../../pure/form-choices.js';
import { parseJsonText } from '../../pure/json-text.js';
import { fieldLine } from '../render/elicitation-lines.js';
import { inert } from '../render/index.js';

const CHOICES_SHOWN_MAX = 100;
const PROBLEM_CHARS_MAX = 300;
const LEAVING = 'At any field: /decline, /cancel or /later.';
const CONSENT = '[f]ill in, [d]ecline, [c]ancel, [l]ater:';
const VISITED = '[a]ccept once you have been at the address, [d]ecline, [c]ancel, [l]ater:';

export interface FormTerminal {
  /** Undefined: there are no more lines, or nobody waits any more. */
  readonly ask: (prompt: string) => Promise<string | undefined>;
  readonly line: (text: string) => void;
}

type Refusal = { readonly action: 'decline' | 'cancel' };
/** null: nobody answered. */
type Left = Refusal | null;

const WORDS: { readonly [word: string]: Left } = {
  d: { action: 'decline' },
  decline: { action: 'decline' },
  c: { action: 'cancel' },
  cancel: { action: 'cancel' },
  l: null,
  later: null,
};

/** The answer as it is sent; null: nobody answered. */
export async function fillForm(asked: Elicitation, terminal: FormTerminal): Promise<Json | null> {
  const begun = await consent(asked, terminal);
  if (begun !== 'go') return begun;
  if (asked.mode === 'url') return { action: 'accept' };
  terminal.line(LEAVING);
  for (;;) {
    const content = await contentOf(asked, terminal);
    if (!('content' in content)) return content.left;
    const answer = { action: 'accept', content: content.content };
    const problem = await answerProblem(asked, answer);
    if (problem === undefined) return answer;
    terminal.line(`The answers do not fit together: ${inert(problem, PROBLEM_CHARS_MAX)}`);
  }
}

async function consent({ mode }: Elicitation, terminal: FormTerminal): Promise<'go' | Left> {
  const goes = mode === 'url' ? ['a', 'accept'] : ['f', 'fill', 'fill in'];
  for (;;) {
    const line = await terminal.ask(mode === 'url' ? VISITED : CONSENT);
    if (line === undefined) return null;
    const word = line.toLowerCase();
    if (goes.includes(word)) return 'go';
    if (Object.hasOwn(WORDS, word)) return WORDS[word] ?? null;
    terminal.line('Please answer as shown.');
  }
}

interface FormField {
  readonly name: string;
  readonly part: Json;
  readonly isNeeded: boolean;
}

type Content = { readonly content: { readonly [name: string]: Json } } | { readonly left: Left };

async function contentOf(asked: Elicitation, terminal: FormTerminal): Promise<Content> {
  const entries: [string, Json][] = [];
  for (const field of fieldsOf(asked)) {
    const said = await fieldValue(asked, field, terminal);
    if ('left' in said) return said;
    if (said.value !== undefined) entries.push([field.name, said.value]);
  }
  return { content: Object.fromEntries(entries) };
}

function fieldsOf({ schema }: Elicitation): readonly FormField[] {
  const { properties, required } = isRecord(schema) ? schema : {};
  const needed: readonly unknown[] = Array.isArray(required) ? required : [];
  return Object.entries(isRecord(properties) ? properties : {}).map(([name, part]) => ({
    name,
    part: part as Json,
    isNeeded: needed.includes(name),
  }));
}

type Said = { readonly value: Json | undefined } | { readonly left: Left };

async function fieldValue(
  asked: Elicitation,
  field: FormField,
  terminal: FormTerminal,
): Promise<Said> {
  const { name, part, isNeeded } = field;
  const standard = isRecord(part) ? (part['default'] as Json | undefined) : undefined;
  const choices = oneOfChoices(part) ?? someOfChoices(part);
  terminal.line(fieldLine(name, isRecord(part) ? part : {}, isNeeded));
  for (const line of choiceLines(choices)) terminal.line(line);
  const usual = standard === undefined ? '' : ` [${inert(JSON.stringify(standard), 60)}]`;
  for (;;) {
    const line = await terminal.ask(`${inert(name, 60)}${usual}:`);
    if (line === undefined) return { left: null };
    const word = line.toLowerCase();
    if (word === '/decline' || word === '/cancel' || word === '/later')
      return { left: WORDS[word.slice(1)] ?? null };
    if (line === '' && (standard !== undefined || !isNeeded)) return { value: undefined };
    const value = valueOf(part, line);
    const problem =
      value === undefined ? 'it is no answer of the list' : await problemOf(asked, field, value);
    if (problem === undefined) return { value };
    terminal.line(`${inert(name, 60)} does not fit: ${inert(problem, PROBLEM_CHARS_MAX)}`);
  }
}

function choiceLines(choices: readonly NamedChoice[] | undefined): readonly string[] {
  if (choices === undefined) return [];
  const shown = choices.slice(0, CHOICES_SHOWN_MAX);
  const more = choices.length - shown.length;
  return [
    ...shown.map(({ label }, place) => `  ${place + 1}) ${inert(label, 120)}`),
    ...(more > 0 ? [`  and ${more} more`] : []),
  ];
}

/** What a line says for a field; undefined: none of its choices. */
function valueOf(part: Json, line: string): Json | undefined {
  const one = oneOfChoices(part);
  if (one !== undefined) return chosen(one, line);
  const some = someOfChoices(part);
  if (some !== undefined) {
    const words = line.split(',').map((word) => word.trim());
    const values = words.filter((word) => word !== '').map((word) => chosen(some, word));
    return values.includes(undefined) ? undefined : (values as Json[]);
  }
  const type = isRecord(part) ? part['type'] : undefined;
  if (type !== 'object' && type !== 'array') return line;
  const parsed = parseJsonText(line);
  return parsed.ok ? (parsed.value as Json) : line;
}

/** By number or by value; a label counts where it is the only one of its kind. */
function chosen(choices: readonly NamedChoice[], word: string): string | undefined {
  const exact = choices.find(({ value }) => value === word);
  if (exact !== undefined) return exact.value;
  if (/^\d{1,4}$/.test(word)) return choices[Number(word) - 1]?.value;
  const labelled = choices.filter(({ label }) => label.toLowerCase() === word.toLowerCase());
  return labelled.length === 1 ? labelled[0]?.value : undefined;
}

/** Of this field alone. */
function problemOf(
  asked: Elicitation,
  { name, part, isNeeded }: FormField,
  value: Json,
): Promise<string | undefined> {
  const schema = {
    type: 'object',
    properties: { [name]: part },
    ...(isNeeded && { required: [name] }),
  };
  return answerProblem({ ...asked, schema }, { action: 'accept', content: { [name]: value } });
}
