/** The recorded test material beside the project; without it the tests that need it are skipped. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';

const REPO_ROOT = join(__dirname, '..', '..');

export const MATERIAL = join(REPO_ROOT, '..', 'shared', 'material');
export const TAU2 = join(MATERIAL, 'tau2-bench');
export const TAU_BENCH = join(MATERIAL, 'tau-bench');

/** `describe` when the material is there; in CI its absence is a failure, not a reason to skip. */
export function describeWithMaterial(title: string, tests: () => void): void {
  if (existsSync(TAU2) && existsSync(TAU_BENCH)) {
    describe(title, tests);
    return;
  }
  if (process.env['CI'] === 'true') {
    test(`${title}: the material is there`, () => {
      throw new Error('shared/material is missing beside the project, and CI must not skip it');
    });
    return;
  }
  process.stderr.write(`skipped "${title}": shared/material is missing beside the project\n`);
  describe.skip(title, tests);
}
