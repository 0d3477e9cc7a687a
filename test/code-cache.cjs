// Preloaded (NODE_OPTIONS) by all processes of Node that tests start: V8's compiled code of our compiled sources and of
// the packages, and where each of them lies. Finding and compiling them is a half of what such a process does.
// Made anew by the global setup when a compiled source or the installed packages have changed.
const fs = require('node:fs');
const Module = require('node:module');
const { dirname, isAbsolute, join } = require('node:path');
const { isMainThread } = require('node:worker_threads');
const vm = require('node:vm');

/** The file of the cache; absent: there is none. */
const FILE = 'HOLDFAST_TEST_CODE';
/** Set in the process that makes it. */
const MAKING = 'HOLDFAST_TEST_CODE_MAKING';
const ROOT = join(__dirname, '..');
const COMPILED = join(ROOT, '.compiled');
/** What processes of tests load, all in all. */
const LOADED = ['index.js', 'worker/index.js', 'testing/index.js', 'cli/program.js'];
const HEAD_BYTES = 4;

/** For the global setup, after sources were compiled. */
function announceCode() {
  const file = join(COMPILED, `code-${stateOfFiles()}.bin`);
  const preload = `--require ${JSON.stringify(__filename)}`;
  const NODE_OPTIONS = [process.env.NODE_OPTIONS, preload].filter(Boolean).join(' ');
  if (!fs.existsSync(file)) {
    for (const name of fs.readdirSync(COMPILED)) {
      if (/^code-.*\.bin$/.test(name)) fs.rmSync(join(COMPILED, name), { force: true });
    }
    const load = LOADED.map((name) => `require(${JSON.stringify(join(COMPILED, name))});`);
    const env = { ...process.env, NODE_OPTIONS, [FILE]: file, [MAKING]: '1' };
    require('node:child_process').execFileSync(
      process.execPath,
      ['-e', `${load.join('')} process.exit(0);`],
      { env },
    );
  }
  Object.assign(process.env, { NODE_OPTIONS, [FILE]: file });
}

/** V8 looks at the length of a source only. */
function stateOfFiles() {
  const files = fs
    .readdirSync(COMPILED, { recursive: true })
    .filter((name) => name.endsWith('.js'))
    .map((name) => join(COMPILED, name));
  const hash = require('node:crypto')
    .createHash('sha256')
    .update(process.version)
    .update(__filename);
  for (const file of [...files.sort(), join(ROOT, 'package-lock.json'), __filename]) {
    const { size, mtimeMs } = fs.statSync(file);
    hash.update(`${file} ${size} ${mtimeMs}\n`);
  }
  return hash.digest('hex').slice(0, 16);
}

function preload(file) {
  const { codes, paths, data } = process.env[MAKING] === '1' ? empty() : read(file);
  const scripts = new Map();
  const { _compile: compile } = Module.prototype;
  Module.prototype._compile = function compileWithCode(source, filename, ...more) {
    const place = codes[filename];
    const isWanted = place !== undefined || (data === undefined && isPlain(source, filename));
    if (!isWanted || more[0] === 'module') return compile.call(this, source, filename, ...more);
    const script = new vm.Script(Module.wrap(source), {
      filename,
      ...(place !== undefined && { cachedData: data.subarray(...place) }),
    });
    if (data === undefined) scripts.set(filename, script);
    const run = script.runInThisContext({ displayErrors: true });
    return run.call(this.exports, this.exports, requireOf(this), this, filename, dirname(filename));
  };
  const { _findPath: find } = Module;
  Module._findPath = function findKnown(request, folders, ...more) {
    const key = `${request}\0${folders?.[0] ?? ''}`;
    const known = paths[key];
    if (known !== undefined) return known;
    const found = find.call(this, request, folders, ...more);
    if (data === undefined && found) paths[key] = found;
    return found;
  };
  if (data === undefined) process.on('exit', () => write(file, scripts, paths));
}

/** Node alone knows how to import from a file. */
function isPlain(source, filename) {
  return isAbsolute(filename) && !source.startsWith('#!') && !/\bimport\s*\(/.test(source);
}

/** As Node makes it, which keeps how to itself. */
function requireOf(module) {
  const { _extensions: extensions, _cache: cache } = Module;
  const resolve = (request, options) => Module._resolveFilename(request, module, false, options);
  resolve.paths = (request) => Module._resolveLookupPaths(request, module);
  const { mainModule: main } = process;
  return Object.assign((id) => module.require(id), { resolve, main, extensions, cache });
}

const empty = () => ({ codes: {}, paths: {}, data: undefined });

function read(file) {
  const all = fs.readFileSync(file);
  const end = HEAD_BYTES + all.readUInt32LE(0);
  const { codes, paths } = JSON.parse(all.toString('utf8', HEAD_BYTES, end));
  return { codes, paths, data: all.subarray(end) };
}

/** After all of it has run once: functions that were compiled by then are in it. */
function write(file, scripts, paths) {
  const parts = [];
  const codes = {};
  let at = 0;
  for (const [name, script] of scripts) {
    const code = script.createCachedData();
    codes[name] = [at, at + code.length];
    parts.push(code);
    at += code.length;
  }
  const head = Buffer.from(JSON.stringify({ codes, paths }));
  const size = Buffer.alloc(HEAD_BYTES);
  size.writeUInt32LE(head.length);
  const made = `${file}.${process.pid}`;
  fs.writeFileSync(made, Buffer.concat([size, head, ...parts]));
  // Another jest may make the same.
  fs.renameSync(made, file);
}

const file = process.env[FILE];
if (file !== undefined && (process.env[MAKING] !== '1' || isMainThread)) {
  if (process.env[MAKING] === '1' || fs.existsSync(file)) preload(file);
}

module.exports = { announceCode };
