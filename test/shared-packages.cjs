// Jest loads every module anew for each test file. The packages of others need that not: each process loads them once,
// and a test file only what is ours. Loading them took a quarter of the processor time of all tests.
const { realpathSync } = require('node:fs');
const { createRequire } = require('node:module');
const { join } = require('node:path');
const Runtime = require('jest-runtime').default;

const PACKAGES = realpathSync(join(__dirname, '..', 'node_modules'));
// Jest's own belong to a test file; jose comes as ES modules, which are compiled; Temporal's load our payload converter,
// which is TypeScript, and some of their state belongs to a test file.
const OF_A_FILE = /^(@jest|jest|expect|pretty-format|jose\/|@temporalio\/(?!proto|core-bridge))/;

const paths = new Map();

/** The file of a package that is shared; undefined: it is none, or none that is shared. */
function sharedFile(from, name) {
  const key = `${from}\0${name}`;
  if (!paths.has(key)) paths.set(key, shared(resolved(from, name)));
  return paths.get(key);
}

function resolved(from, name) {
  try {
    return createRequire(from).resolve(name);
  } catch {
    // Jest says what is missing.
    return undefined;
  }
}

function shared(file) {
  const inPackages = file?.startsWith(`${PACKAGES}/`) ? file.slice(PACKAGES.length + 1) : undefined;
  return inPackages === undefined || OF_A_FILE.test(inPackages) ? undefined : file;
}

module.exports = class SharedPackages extends Runtime {
  requireModule(from, name, ...how) {
    if (name !== undefined && how[0]?.isInternalModule !== true && !/^(\.|node:)/.test(name)) {
      const file = sharedFile(from, name);
      if (file !== undefined) return require(file);
    }
    return super.requireModule(from, name, ...how);
  }
};
module.exports.default = module.exports;
