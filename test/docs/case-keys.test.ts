/** The reference of cases has every key of the format. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { fixtureDocument } from '../../evaluation/format/document.js';
import { expected } from '../../evaluation/format/expected.js';
import { moment } from '../../evaluation/format/during.js';
import { settings } from '../../evaluation/format/settings.js';
import { tool } from '../../evaluation/format/tools.js';

const REFERENCE = join(__dirname, '..', '..', 'docs', 'reference');
/** Settings and definitions of goals have pages of their own. */
const PAGES = ['cases.md', 'semantics.md', 'goals.md'];
const PARTS = { fixtureDocument, expected, moment, settings, tool };

function keysIn(schema: unknown, keys = new Set<string>()): ReadonlySet<string> {
  if (typeof schema !== 'object' || schema === null) return keys;
  const { properties = {} } = schema as { readonly properties?: object };
  for (const key of Object.keys(properties)) keys.add(key);
  for (const part of Object.values(schema)) {
    if (part === properties) for (const one of Object.values(properties)) keysIn(one, keys);
    else keysIn(part, keys);
  }
  return keys;
}

test.each(Object.entries(PARTS))('every key of %s is in the reference', (_name, schema) => {
  const keys = keysIn(z.toJSONSchema(schema as z.ZodType, { unrepresentable: 'any', io: 'input' }));
  const text = PAGES.map((page) => readFileSync(join(REFERENCE, page), 'utf8')).join('\n');
  const words = new Set(text.match(/\w+/g));
  expect([...keys].filter((key) => !words.has(key))).toEqual([]);
});

test('the parts have many keys', () => {
  const schema = z.toJSONSchema(fixtureDocument, { unrepresentable: 'any', io: 'input' });
  expect(keysIn(schema).size).toBeGreaterThan(300);
});
