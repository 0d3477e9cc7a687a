/** Reads one fixture: bytes, JSON, schema, case. Every failure names the file, and the key or the place. */
import { readFile, stat } from 'node:fs/promises';
import { depthOf, SHAPE_DEPTH_MAX } from '../core/json/json-depth.js';
import { parseJsonText } from '../pure/json-text.js';
import { convert } from './convert.js';
import { withConfiguration } from './own-agent.js';
import type { Fixture } from './fixture.js';
import { fixtureDocument } from './format/document.js';
import { invalidFixture, pathText, problemsOf } from './problems.js';

const FILE_BYTES_MAX = 32 * 1024 * 1024;

/** `name` is what messages call the file. Throws HoldfastError InvalidFixture. */
export async function readFixture(name: string, file: string = name): Promise<Fixture> {
  const facts = await stat(file).catch(() => undefined);
  if (facts === undefined) throw invalidFixture(name, ['it does not exist']);
  if (!facts.isFile()) throw invalidFixture(name, ['it is no file']);
  if (facts.size > FILE_BYTES_MAX) {
    throw invalidFixture(name, [`it is larger than ${FILE_BYTES_MAX} bytes`]);
  }
  const text = await readFile(file, 'utf8').catch((cause: unknown) => {
    throw invalidFixture(name, [cause instanceof Error ? cause.message : 'it cannot be read']);
  });
  return withConfiguration(parseFixture(text, name), file);
}

/** Throws HoldfastError InvalidFixture. */
export function parseFixture(text: string, file: string): Fixture {
  const parsed = parseJsonText(text);
  if (!parsed.ok) {
    const { line, column, reason } = parsed;
    throw invalidFixture(file, [`line ${line}, column ${column}: ${reason}`]);
  }
  if (depthOf(parsed.value) > SHAPE_DEPTH_MAX) {
    throw invalidFixture(file, [`it is nested deeper than ${SHAPE_DEPTH_MAX} levels`]);
  }
  const hostile = pathOfPrototype(parsed.value, []);
  if (hostile !== undefined) throw invalidFixture(file, [`${pathText(hostile)}: unknown key`]);
  const checked = fixtureDocument.safeParse(parsed.value);
  if (!checked.success) throw invalidFixture(file, problemsOf(checked.error));
  const converted = convert(checked.data, file);
  if (!converted.ok) throw invalidFixture(file, converted.problems);
  return converted.fixture;
}

/** `__proto__` is no key to any schema: it would be passed over in silence. */
function pathOfPrototype(
  value: unknown,
  path: readonly (string | number)[],
): readonly (string | number)[] | undefined {
  if (typeof value !== 'object' || value === null) return undefined;
  if (Object.hasOwn(value, '__proto__')) return [...path, '__proto__'];
  for (const [key, inner] of Object.entries(value)) {
    const found = pathOfPrototype(inner, [...path, Array.isArray(value) ? Number(key) : key]);
    if (found !== undefined) return found;
  }
  return undefined;
}
