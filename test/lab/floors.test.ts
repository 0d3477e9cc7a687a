/** Imports go down only, types counted: in this tree, and the check says so where they do not. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { faultsOf } from '../../lab/floors/faults.js';
import { FLOORS } from '../../lab/floors/house.js';
import { importsIn } from '../../lab/floors/imports.js';

let root: string;
beforeEach(() => (root = mkdtempSync(join(tmpdir(), 'holdfast-floors-'))));
afterEach(() => rmSync(root, { recursive: true }));

/** The faults of a tree with these files. */
function faultsIn(files: Readonly<Record<string, string>>): readonly string[] {
  for (const [file, text] of Object.entries(files)) {
    mkdirSync(dirname(join(root, file)), { recursive: true });
    writeFileSync(join(root, file), text);
  }
  return faultsOf(importsIn(root, FLOORS.flat()));
}

test('this tree has no import that goes up, and no circle', () => {
  const imports = importsIn(join(__dirname, '..', '..'), [...FLOORS.flat(), 'test']);
  expect(imports.size).toBeGreaterThan(500);
  expect(faultsOf(imports)).toEqual([]);
});

test('the core has at most nine floors', () => {
  const floors = FLOORS.filter((rooms) => rooms.some((room) => room.startsWith('core/')));
  expect(floors.length).toBeLessThanOrEqual(9);
});

test('an import of a room above is told, also of a type alone', () => {
  expect(
    faultsIn({
      'core/state/run.ts':
        "import type { Loop } from '../loop/engine.js';\nexport type Run = Loop;\n",
      'core/loop/engine.ts': 'export type Loop = 1;\n',
    }),
  ).toEqual(['core/state/run.ts imports core/loop/engine.ts: core/loop is above core/state.']);
});

test('an import of a room beside is told', () => {
  expect(
    faultsIn({
      'workflows/a.ts': "export { b } from '../pure/b.js';\n",
      'pure/b.ts': 'export const b = 1;\n',
    }),
  ).toEqual(['workflows/a.ts imports pure/b.ts: pure is beside workflows.']);
});

test('files that import each other are told once, also by types and over several lines', () => {
  expect(
    faultsIn({
      'store/a.ts': "import {\n  type B,\n} from './b.js';\nexport type A = B;\n",
      'store/b.ts': "export type { C as B } from './c.js';\n",
      'store/c.ts': "import type { A } from './a.js';\nexport type C = A;\n",
      'store/d.ts': "import type { A } from './a.js';\nexport type D = A;\n",
    }),
  ).toEqual(['These files import each other: store/a.ts, store/b.ts, store/c.ts.']);
});
