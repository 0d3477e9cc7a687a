/** Tests that need a machine which can isolate: where it cannot, the reason is printed, and under CI they fail. */
import { findIsolation, type Isolation } from '../../sandbox/isolation.js';

const found = findIsolation();

export function whereIsolated(name: string, tests: (isolation: Isolation) => void): void {
  if (found.kind === 'found') {
    describe(name, () => tests(found.isolation));
    return;
  }
  const { because } = found;
  if (process.env['CI'] === 'true') {
    test(name, () => {
      throw new Error(`Nothing can be isolated here, and CI must: ${because}.`);
    });
    return;
  }
  console.warn(`skipped: ${name}: ${because}`);
  test.skip(name, () => undefined);
}
