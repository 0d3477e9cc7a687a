/** `npm run floors`: imports go down only, and no files import each other, types counted. */
import { join } from 'node:path';
import { faultsOf } from './faults.js';
import { FLOORS } from './house.js';
import { importsIn } from './imports.js';

// Tests are on no floor; they make no circles either.
const faults = faultsOf(importsIn(join(__dirname, '..', '..'), [...FLOORS.flat(), 'test']));
for (const fault of faults) console.log(fault);
if (faults.length > 0) {
  console.log(
    'Imports go down only (docs/design/architecture.md); lab/floors/house.ts has the floors.',
  );
  process.exitCode = 1;
}
