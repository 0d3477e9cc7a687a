// Tests in the context of their process, so that they can use packages that are loaded there (test/shared-modules.cjs):
// in a context of its own an error of theirs is no Error. What a file leaves behind is taken back after it.
const { AsyncLocalStorage } = require('node:async_hooks');
const { relative } = require('node:path');
const vm = require('node:vm');
const { LegacyFakeTimers, ModernFakeTimers } = require('@jest/fake-timers');
const { ModuleMocker } = require('jest-mock');
const { costsSoFar, tellCosts } = require('./costs.cjs');

// Jest names the context to run in; the process's own is none that Node takes.
const { compileFunction } = vm;
// A helper that many files use is compiled once in each process: the function makes another module at each call.
const compiledBefore = new Map();
vm.compileFunction = (code, parameters, options = {}) => {
  const { parsingContext, ...others } = options;
  if (parsingContext !== globalThis) return compileFunction(code, parameters, options);
  const { filename = '' } = others;
  const known = compiledBefore.get(filename);
  if (known?.code === code && known.parameters === parameters.join()) return known.made;
  const made = compileFunction(code, parameters, others);
  // Only one file is a test's own.
  if (!/\.test\.[jt]s$/.test(filename))
    compiledBefore.set(filename, { code, parameters: parameters.join(), made });
  return made;
};
const { runInContext } = vm.Script.prototype;
vm.Script.prototype.runInContext = function runHere(context, options) {
  return context === globalThis
    ? this.runInThisContext(options)
    : runInContext.call(this, context, options);
};

// Until Node 24 each storage that was ever used costs every later promise of its process, and connections, workers and
// jest itself never let theirs go. A storage that is used again is enabled again.
const storages = new Set();
const { _enable: enable } = AsyncLocalStorage.prototype;
if (enable !== undefined) {
  AsyncLocalStorage.prototype._enable = function enableHere() {
    storages.add(this);
    return enable.call(this);
  };
}

const timers = {
  idToRef: (id) => ({ id, ref: () => undefined, unref: () => undefined }),
  refToId: (timer) => timer?.id,
};

/** What hears of the end of the process, or of an error that nobody caught. */
function listenersOfProcess() {
  return process
    .eventNames()
    .filter((event) => event !== 'message' && event !== 'disconnect')
    .flatMap((event) => process.rawListeners(event).map((listener) => ({ event, listener })));
}

// What runs the tests of a file leaves its handlers of events and all of the file's tests on the global object: those of
// every earlier file would hear each test, and nothing of them would ever be collected.
const HANDLERS = Symbol.for('EVENT_HANDLERS');
const isOfCircus = (symbol) => symbol === HANDLERS || symbol.description === 'JEST_STATE_SYMBOL';

// Matchers live as long as the process; those that a file puts in place of others are taken back.
const MATCHERS = Symbol.for('$$jest-matchers-object');

module.exports = class OneContext {
  constructor({ projectConfig: config }, { testPath }) {
    this.file = relative(config.rootDir, testPath);
    this.costsBefore = costsSoFar();
    this.global = globalThis;
    globalThis.global = globalThis;
    this.before = {
      env: { ...process.env },
      folder: process.cwd(),
      exit: process.exit,
      console: globalThis.console,
      stackTraceLimit: Error.stackTraceLimit,
      names: new Set(Object.getOwnPropertyNames(globalThis)),
      matchers: { ...globalThis[MATCHERS]?.matchers },
      listeners: new Set(listenersOfProcess().map(({ listener }) => listener)),
    };
    Error.stackTraceLimit = 100;
    this.moduleMocker = new ModuleMocker(globalThis);
    const given = { config, global: globalThis };
    const { moduleMocker } = this;
    this.fakeTimers = new LegacyFakeTimers({ ...given, moduleMocker, timerConfig: timers });
    this.fakeTimersModern = new ModernFakeTimers(given);
  }

  async setup() {}

  async teardown() {
    this.fakeTimers.dispose();
    this.fakeTimersModern.dispose();
    const { env, folder, exit, names, stackTraceLimit } = this.before;
    for (const name of Object.keys(process.env)) if (!(name in env)) delete process.env[name];
    Object.assign(process.env, env);
    for (const { event, listener } of listenersOfProcess()) {
      if (!this.before.listeners.has(listener)) process.removeListener(event, listener);
    }
    process.chdir(folder);
    process.exit = exit;
    globalThis.console = this.before.console;
    Error.stackTraceLimit = stackTraceLimit;
    for (const name of Object.getOwnPropertyNames(globalThis)) {
      if (!names.has(name)) delete globalThis[name];
    }
    for (const symbol of Object.getOwnPropertySymbols(globalThis)) {
      if (isOfCircus(symbol)) delete globalThis[symbol];
    }
    Object.assign(globalThis[MATCHERS]?.matchers ?? {}, this.before.matchers);
    for (const storage of storages) storage.disable();
    storages.clear();
    tellCosts(this.file, this.costsBefore);
  }

  exportConditions() {
    return ['node', 'node-addons'];
  }

  getVmContext() {
    return globalThis;
  }
};
