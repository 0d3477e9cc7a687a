/** Statements of the examples, which Node from 24.19 on must not see collected. */
import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import Sqlite from 'better-sqlite3';
import { prepared } from '../../examples/prepared.js';

const EXAMPLES = join(__dirname, '..', '..', 'examples');

test('a text is prepared once for a database', () => {
  const [one, other] = [new Sqlite(':memory:'), new Sqlite(':memory:')];
  expect(prepared(one, 'select 1')).toBe(prepared(one, 'select 1'));
  expect(prepared(one, 'select 1')).not.toBe(prepared(other, 'select 1'));
  expect(prepared<[], number>(one, 'select 2').pluck().get()).toBe(2);
});

test('no example prepares a statement by itself', () => {
  const files = readdirSync(EXAMPLES, { recursive: true, encoding: 'utf8' }).filter(
    (file) => file.endsWith('.ts') && !file.includes('node_modules') && file !== 'prepared.ts',
  );
  const preparing = files.filter((file) =>
    /\.(?:prepare|pragma)\(/.test(readFileSync(join(EXAMPLES, file), 'utf8')),
  );
  expect(preparing).toEqual([]);
});
