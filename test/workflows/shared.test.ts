/** Workflows share one copy of what they import of core by value. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const FOLDER = join(__dirname, '..', '..', 'workflows');
const SHARED = 'shared.ts';
/** Types are no code. */
const BY_VALUE = /^(?:import|export)(?! type) (?:\{[^}]*\} from )?'\.\.\/(core\/[^']+)'/gm;

function importedBy(file: string): readonly string[] {
  return [...readFileSync(join(FOLDER, file), 'utf8').matchAll(BY_VALUE)].map(([, path]) => path!);
}

test('all code of core that workflows import is loaded once for all of them', () => {
  const files = readdirSync(FOLDER).filter((file) => file.endsWith('.ts') && file !== SHARED);
  const imported = new Set(files.flatMap(importedBy));
  expect(importedBy(SHARED)).toEqual([...imported].toSorted());
});
