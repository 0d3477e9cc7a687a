/** Types that once had one name for several things: each name says which of them it is. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { FLOORS } from '../../lab/floors/house.js';
import { importsIn } from '../../lab/floors/imports.js';

const ROOT = join(__dirname, '..', '..');
const ONCE = /^\s*(?:export )?(?:interface|type) (Verdict|Asked)\b/gm;

test('Verdict is one type, and no type is called Asked', () => {
  const named = [...importsIn(ROOT, FLOORS.flat()).keys()].flatMap((file) =>
    [...readFileSync(join(ROOT, file), 'utf8').matchAll(ONCE)].map(([, name]) => [name, file]),
  );
  expect(named).toEqual([['Verdict', 'core/state/ask.ts']]);
});
