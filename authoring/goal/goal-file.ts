/** A goal's definition from the text of a file: JSON or YAML. */
import { LineCounter, parseDocument } from 'yaml';
import { HoldfastError } from '../../core/state/errors.js';
import { parseJsonText } from '../../pure/json-text.js';
import { normalGoal, type NormalGoal } from './normal-goal.js';

export const GOAL_FILE_BYTES_MAX = 256 * 1024;
const FORM =
  'A goal file is JSON or YAML with objective, agent, done and budget; see `holdfast goal start --help`.';

/** `name` is shown, and says by its end how the text is written. Errors: InvalidTask. */
export function goalFromText(text: string, name: string): NormalGoal {
  return normalGoal(parseGoalText(text, name), name);
}

/** The same before it is checked. A field `name` is for `defineGoal`, and left out. */
export function parseGoalText(text: string, name: string): unknown {
  const value = parseDataText(text, name);
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw badFile(name, 'it must be an object');
  }
  const { name: _, ...definition } = value as Record<string, unknown>;
  return definition;
}

/** Any value in JSON or YAML. Errors: InvalidTask. */
export function parseDataText(text: string, name: string): unknown {
  if (Buffer.byteLength(text) > GOAL_FILE_BYTES_MAX) {
    throw badFile(name, `it is larger than ${GOAL_FILE_BYTES_MAX} bytes`);
  }
  const isJson = /\.json$/i.test(name) || (!/\.ya?ml$/i.test(name) && /^[\uFEFF\s]*\{/.test(text));
  return isJson ? jsonIn(text, name) : yamlIn(text, name);
}

function jsonIn(text: string, name: string): unknown {
  const parsed = parseJsonText(text);
  if (parsed.ok) return parsed.value;
  throw badFile(name, `line ${parsed.line}, column ${parsed.column}: ${parsed.reason}`);
}

/** As JSON has it: no tags, no dates, each key once; what aliases expand to is bounded by the library. */
function yamlIn(text: string, name: string): unknown {
  const lineCounter = new LineCounter();
  const faultAt = (offset: number, why: string): HoldfastError => {
    const { line, col } = lineCounter.linePos(offset);
    return badFile(name, `line ${line}, column ${col}: ${why.slice(0, 200)}`);
  };
  try {
    const options = { schema: 'core', prettyErrors: false, stringKeys: true } as const;
    const document = parseDocument(text, { ...options, lineCounter });
    const [fault] = [...document.errors, ...document.warnings];
    if (fault !== undefined) throw faultAt(fault.pos[0], fault.message);
    return document.toJS({ maxAliasCount: 100 });
  } catch (error) {
    if (error instanceof HoldfastError) throw error;
    // An alias of nothing, or texts that nest beyond the library's stack.
    throw badFile(name, error instanceof Error ? error.message.slice(0, 200) : 'it is no YAML');
  }
}

function badFile(name: string, why: string): HoldfastError {
  return new HoldfastError('InvalidTask', `The goal in ${name} cannot be used: ${why}.`, {
    hint: FORM,
  });
}
