// Jest loads every module anew for each test file. Packages and our own sources need that not: each process loads them
// once, and a test file only what lies in test/ and lab/. Loading them took a third of the processor time of all tests.
// Sources are loaded as they were compiled before all tests (test/compiled.ts), so a process has their state for good:
// a test that needs a module as it is in a new process starts one.
const { existsSync, realpathSync } = require('node:fs');
const { createRequire } = require('node:module');
const { dirname, join, resolve, sep } = require('node:path');
const Runtime = require('jest-runtime').default;

const ROOT = realpathSync(join(__dirname, '..'));
const COMPILED = join(ROOT, '.compiled');
const PACKAGES = realpathSync(join(ROOT, 'node_modules'));
// What a test file sees of jest belongs to it; what only jest itself loads, but for what collects the tests, does not.
const OF_A_FILE = /^(@jest|jest|expect|pretty-format)/;
const COLLECTS_TESTS = /^jest-(circus|mock|jasmine2)\//;

// Programs of lab/ look for files of the sources beside themselves.
const UNSHARED = /^(test|lab|node_modules)\//;

const paths = new Map();

/** The file that is loaded once for all test files; undefined: it is none, or each test file has its own. */
function sharedFile(from, name) {
  // A package may have one of its own below it, so no name means the same everywhere.
  const key = `${dirname(from)}\0${name}`;
  if (!paths.has(key))
    paths.set(key, isPath(name) ? sharedSource(from, name) : sharedPackage(from, name));
  return paths.get(key);
}

const isPath = (name) => name.startsWith('.') || name.startsWith('/');

/** A source is loaded as it was compiled. */
function sharedSource(from, name) {
  const path = resolve(dirname(from), name);
  const base = path.startsWith(`${COMPILED}${sep}`) ? COMPILED : ROOT;
  const place = path.startsWith(`${base}${sep}`) ? path.slice(base.length + 1) : 'test/';
  if (UNSHARED.test(place)) return undefined;
  const compiled = `${join(COMPILED, place.replace(/\.[jt]s$/, ''))}.js`;
  return existsSync(compiled) ? compiled : undefined;
}

function sharedPackage(from, name) {
  const file = resolved(from, name);
  const inPackages = file?.startsWith(`${PACKAGES}/`) ? file.slice(PACKAGES.length + 1) : undefined;
  return inPackages === undefined || OF_A_FILE.test(inPackages) ? undefined : file;
}

/** Of what jest itself loads for a test file, the file that is loaded once for all. */
function sharedOfJest(from, name) {
  const key = `${from}\0internal ${name}`;
  if (!paths.has(key)) {
    const file = name === undefined ? from : resolved(from, name);
    const inPackages = file?.startsWith(`${PACKAGES}/`) && file.slice(PACKAGES.length + 1);
    paths.set(key, inPackages && !COLLECTS_TESTS.test(inPackages) ? file : undefined);
  }
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

module.exports = class SharedModules extends Runtime {
  requireModule(from, name, ...how) {
    if (name !== undefined && how[0]?.isInternalModule !== true && !name.startsWith('node:')) {
      const file = sharedFile(from, name);
      if (file !== undefined) return require(file);
    }
    return super.requireModule(from, name, ...how);
  }

  requireInternalModule(from, to) {
    const file = sharedOfJest(from, to);
    return file === undefined ? super.requireInternalModule(from, to) : require(file);
  }
};
module.exports.default = module.exports;
