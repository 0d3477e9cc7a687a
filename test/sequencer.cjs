// The longest files first, so that no worker is left alone with one of them at the end. On a fresh clone jest
// knows no durations and goes by size, which says the opposite of a file that plays a folder of cases.
const Sequencer = require('@jest/test-sequencer').default;

const LONGEST = [
  'store/postgres.test.ts',
  'browser/hostile.test.ts',
  'browser/many.test.ts',
  'testing/crash-kit.test.ts',
  'integration/waits.test.ts',
  'integration/other-store.test.ts',
  'browser/barriers.test.ts',
  'scenarios/real-engine.test.ts',
  'proving/harness.test.ts',
  'browser/inbox.test.ts',
  'browser/run.test.ts',
  'integration/outages.test.ts',
  'integration/cancelled-away.test.ts',
  'examples/refund-demo.test.ts',
  'integration/attacks.test.ts',
  'integration/attacks-injection.test.ts',
  'evaluation/temporal.test.ts',
  'scenarios/uncached.test.ts',
  'integration/killed-anywhere.test.ts',
  'integration/killed-mid-stream.test.ts',
  'integration/crash.test.ts',
  'integration/served.test.ts',
  'integration/postgres.test.ts',
  'integration/query-crash.test.ts',
  'browser/answers.test.ts',
  'integration/approval.test.ts',
  'workflows/replay.test.ts',
  'workflows/async-frames.test.ts',
  'integration/token-stream.test.ts',
  'integration/zombie.test.ts',
  'integration/bad-input.test.ts',
  'replay/kept-histories.test.ts',
  'integration/query.test.ts',
  'integration/archive.test.ts',
  'integration/named-changes.test.ts',
  'integration/desk.test.ts',
  'providers/error-table.test.ts',
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
