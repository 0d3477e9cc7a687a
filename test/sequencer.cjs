// The longest files first, so that no worker is left alone with one of them at the end. On a fresh clone jest
// knows no durations and goes by size, which says the opposite of a file that plays a folder of cases.
const Sequencer = require('@jest/test-sequencer').default;

const LONGEST = [
  'scenarios/scenarios.test.ts',
  'browser/inbox.test.ts',
  'browser/run.test.ts',
  'browser/answers.test.ts',
  'browser/barriers.test.ts',
  'evaluation/temporal.test.ts',
  'scenarios/uncached.test.ts',
  'proving/harness.test.ts',
  'testing/crash-kit.test.ts',
  'integration/killed-anywhere.test.ts',
];

module.exports = class LongestFirst extends Sequencer {
  async sort(tests) {
    const rankOf = ({ path }) => {
      const rank = LONGEST.findIndex((file) => path.endsWith(`/test/${file}`));
      return rank < 0 ? LONGEST.length : rank;
    };
    const sorted = await super.sort(tests);
    return [...sorted].sort((one, other) => rankOf(one) - rankOf(other));
  }
};
