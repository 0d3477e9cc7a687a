/** `--expect KEY=VALUE`: what a captured case expects in place of what was recorded. */
import { HoldfastError } from '../../core/state/errors.js';
import { isRecord } from '../../core/json/shape.js';
import { expected, type Expected } from '../format/expected.js';
import { problemsOf } from '../problems.js';

const HINT =
  "Write for example --expect 'stop_reason=completed' or --expect 'effects.issue_refund=0'.";

/** Keys are those of `expected`, dotted; a value that is no JSON is a text. Errors: `Usage`. */
export function expectationIn(written: readonly string[]): Expected {
  const document: Record<string, unknown> = {};
  for (const one of written) {
    const equals = one.indexOf('=');
    const path = one.slice(0, Math.max(0, equals)).trim();
    if (path === '') throw usage(`${JSON.stringify(one.slice(0, 100))} is no KEY=VALUE`);
    put(document, placesIn(path), valueOf(one.slice(equals + 1).trim()));
  }
  const checked = expected.safeParse(document);
  if (checked.success) return checked.data;
  throw usage(`--expect cannot be used: ${problemsOf(checked.error).join('; ')}`);
}

const EFFECTS = 'effects.';

/** Names of tools may have dots, and nothing comes behind one. */
function placesIn(path: string): readonly string[] {
  const isEffect = path.startsWith(EFFECTS) && path.length > EFFECTS.length;
  return isEffect ? ['effects', path.slice(EFFECTS.length)] : path.split('.');
}

function put(document: Record<string, unknown>, path: readonly string[], value: unknown): void {
  let place = document;
  for (const name of path.slice(0, -1)) {
    const inner = Object.hasOwn(place, name) && isRecord(place[name]) ? place[name] : {};
    const own: Record<string, unknown> = { ...inner };
    Object.defineProperty(place, name, { value: own, enumerable: true, configurable: true });
    place = own;
  }
  const name = path.at(-1)!;
  Object.defineProperty(place, name, { value, enumerable: true, configurable: true });
}

function valueOf(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return text;
  }
}

function usage(message: string): HoldfastError {
  return new HoldfastError('Usage', message.endsWith('.') ? message : `${message}.`, {
    hint: HINT,
  });
}
