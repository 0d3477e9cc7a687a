// The longest files first, so that no worker is left alone with one of them at the end. On a fresh clone jest
// knows no durations and goes by size, which says the opposite of a file that plays a folder of cases.
const Sequencer = require('@jest/test-sequencer').default;
const { drawSeed } = require('./draw-seed.cjs');
const { drawnFiles } = require('./drawn-files.cjs');

const LONGEST = [
  'integration/waits.test.ts',
  'integration/killed-goals.test.ts',
  'integration/cancelled-away.test.ts',
  'browser/barriers.test.ts',
  'integration/outages.test.ts',
  'store/postgres.test.ts',
  'integration/named-changes.test.ts',
  'browser/inbox.test.ts',
  'browser/run.test.ts',
  'integration/killed-anywhere.test.ts',
  'integration/goal-survives.test.ts',
  'testing/crash-kit.test.ts',
  'proving/harness.test.ts',
  'integration/restored-store.test.ts',
  'integration/other-store.test.ts',
  'integration/archive.test.ts',
  'integration/zombie.test.ts',
  'integration/secured-cluster.test.ts',
  'browser/hostile.test.ts',
  'integration/goals-asleep.test.ts',
  'browser/many.test.ts',
  'examples/repair.test.ts',
  'integration/postgres.test.ts',
  'browser/answers.test.ts',
  'integration/served.test.ts',
  'build/build.test.ts',
  'examples/refund-demo.test.ts',
  'integration/killed-connectors.test.ts',
  'workflows/replay.test.ts',
  'integration/desk-corrections.test.ts',
  'integration/query-crash.test.ts',
  'integration/decisions-away.test.ts',
  'integration/query.test.ts',
  'integration/sandbox.test.ts',
  'integration/named-changes-of-10.test.ts',
  'browser/goals.test.ts',
  'integration/reset.test.ts',
  'integration/goal-client.test.ts',
  'scenarios/commands.test.ts',
  'console/notify.test.ts',
  'scenarios/real-engine.test.ts',
  'integration/desk-api.test.ts',
  'integration/continue-as-new.test.ts',
  'browser/rights.test.ts',
  'integration/killed-mid-stream.test.ts',
  'scenarios/scenarios.test.ts',
  'replay/kept-histories.test.ts',
  'integration/bad-input.test.ts',
  'integration/approval.test.ts',
  'browser/controls.test.ts',
  'integration/secured-commands.test.ts',
  'sandbox/attacks.test.ts',
  'integration/attacks-injection.test.ts',
  'integration/token-stream.test.ts',
  'integration/crash.test.ts',
  'connectors/legacy.test.ts',
  'cli/postgres.test.ts',
  'integration/goal-changes.test.ts',
  'evaluation/temporal.test.ts',
  'integration/split-workers.test.ts',
  'store/processes.test.ts',
  'cli/exit-codes.test.ts',
  'integration/answer-command.test.ts',
  'devserver/start-server.test.ts',
  'integration/attacks.test.ts',
  'integration/query-tokens.test.ts',
  'connection/diagnose.test.ts',
  'integration/chat.test.ts',
  'integration/export.test.ts',
  'proving/tool-service.test.ts',
  'workflows/async-frames.test.ts',
  'integration/decisions-at-once.test.ts',
  'scenarios/uncached.test.ts',
  'evaluation/capture/goals.test.ts',
  'replay/random-histories.test.ts',
  'evaluation/capture/seeded-bugs.test.ts',
  'docs/snippets.test.ts',
  'providers/error-table.test.ts',
  'evaluation/capture/captured-cases.test.ts',
  'evaluation/secrets.test.ts',
  'providers/stream-cuts.test.ts',
  'cli/fork-dry.test.ts',
  'evaluation/past.test.ts',
  'providers/conformance.test.ts',
  'core/call/plans.test.ts',
  'core/call/heard-ends.test.ts',
  'core/goal/random-goals.test.ts',
  'types/types.test.ts',
  'providers/anthropic-recordings.test.ts',
  'replay/stored-histories.test.ts',
  'recording/fold.test.ts',
  'core/loop/segments-anywhere.test.ts',
  'replay/read-in-pieces.test.ts',
  'replay/redaction-on-a-disk.test.ts',
  'providers/openai-recordings.test.ts',
  'core/loop/run-size.test.ts',
  'evaluation/schema.test.ts',
  'console/goals.test.ts',
  'core/ask/anything-people.test.ts',
  'replay/tree-bundle.test.ts',
  'core/ask/proofs.test.ts',
  'cli/bundles.test.ts',
  'providers/ai-sdk.test.ts',
  'providers/anthropic-failures.test.ts',
];

const rankOf = ({ path }) => {
  const rank = LONGEST.findIndex((file) => path.endsWith(`/test/${file}`));
  return rank < 0 ? undefined : rank;
};

module.exports = class LongestFirst extends Sequencer {
  constructor(options) {
    super(options);
    // The one above sorts those that failed as well.
    this.plain = new Sequencer(options);
  }

  async sort(tests) {
    const sorted = (await super.sort(tests)).toSorted(
      (one, other) => (rankOf(one) ?? LONGEST.length) - (rankOf(other) ?? LONGEST.length),
    );
    const failed = new Set((await this.plain.allFailedTests(tests)).map(({ path }) => path));
    return drawnFiles(sorted, {
      rootDir: tests[0]?.context.config.rootDir,
      seed: drawSeed(),
      way: process.env.HOLDFAST_FILES,
      rankOf,
      hasFailed: ({ path }) => failed.has(path),
    });
  }
};
