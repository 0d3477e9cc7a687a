// One line for each test file; what a file printed is shown only when it failed, or with --verbose. At the end, before
// jest's own summary, stand all seeds, and every reason why something was skipped.
const { stripVTControlCharacters } = require('node:util');
const { DefaultReporter } = require('@jest/reporters');

const KEPT = /\bHOLDFAST_SEED=\d+|^skipped/i;

module.exports = class QuietReporter extends DefaultReporter {
  kept = new Set();

  onTestResult(test, result, results) {
    for (const { message } of result.console ?? []) {
      for (const line of message.split('\n')) if (KEPT.test(line)) this.kept.add(line.trim());
    }
    const hasFailed = result.numFailingTests > 0 || result.testExecError !== undefined;
    if (!hasFailed && !this._globalConfig.verbose) result.console = undefined;
    // Worker processes colour what failed, wherever that is printed.
    if (hasFailed && !process.stderr.isTTY) {
      result.failureMessage = stripVTControlCharacters(result.failureMessage);
    }
    super.onTestResult(test, result, results);
  }

  onRunComplete() {
    super.onRunComplete();
    if (this.kept.size > 0) this.log(`\n${[...this.kept].join('\n')}`);
  }
};
