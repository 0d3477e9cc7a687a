// Builds dist: compiles, bundles the page for browsers, and bundles workflow code once, so that workers start fast.
//   --if-stale   only when something that dist is made of has changed, or dist is not whole
//   --lab        into build/, with the laboratory: its measurements are of compiled code, and no package has them
// The old build keeps its place until the new one is compiled; Ctrl-C, and what does not compile, change nothing.
const { spawn } = require('node:child_process');
const { createHash } = require('node:crypto');
const {
  chmodSync,
  existsSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} = require('node:fs');
const { constants } = require('node:os');
const { dirname, join, relative } = require('node:path');
const { buildPage } = require('./build-page.cjs');
const { compact, compactLines } = require('./build-compact.cjs');
const { bundlePackages } = require('./build-bundled.cjs');
const { loadLazily, ONCE } = require('./build-lazy.cjs');
const { pruneTypes } = require('./build-types.cjs');

process.chdir(__dirname);
const WITH_LAB = process.argv.includes('--lab');
const PLACE = WITH_LAB ? 'build' : 'dist';
const CONFIG = WITH_LAB ? 'tsconfig.lab.json' : 'tsconfig.build.json';
const { include } = require('./tsconfig.json');
const { exclude } = require(`./${CONFIG}`);

const ENDS_BY_GROUP = process.platform !== 'win32';
const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'];
/** Of what sources a build is: written before it takes its place, so that it never tells of another. */
const STAMP = 'build.json';
/** What bundling leaves, last of all. */
const BUNDLES = ['workflows/bundle.json', 'examples/refund/business/refund-process.bundle.js'];
const MADE_BESIDE_SOURCES = BUNDLES.concat('workflows/bundle.js');
const SINGLE_SOURCES = [
  'index.ts',
  'package.json',
  'package-lock.json',
  'build.cjs',
  'build-page.cjs',
  'build-types.cjs',
  'build-lazy.cjs',
  'build-bundled.cjs',
  'build-compact.cjs',
  'build-query-builder.cjs',
  'tsconfig.json',
  'tsconfig.build.json',
  CONFIG,
];

function sourceFiles() {
  const folders = include.filter((entry) => !entry.includes('*') && !exclude.includes(entry));
  const inFolders = folders.flatMap(filesIn).filter((file) => !MADE_BESIDE_SOURCES.includes(file));
  return [...inFolders, ...SINGLE_SOURCES.filter((file) => existsSync(file))].sort(byCode);
}

const byCode = (a, b) => (a < b ? -1 : 1);

/** Hidden ones are an editor's, or the data of a run: no sources. */
function filesIn(folder) {
  const entries = readdirSync(folder, { withFileTypes: true }).filter(
    ({ name }) => !name.startsWith('.'),
  );
  return entries.flatMap((entry) => {
    const path = `${folder}/${entry.name}`;
    if (entry.isDirectory()) return filesIn(path);
    return entry.isFile() ? [path] : [];
  });
}

function hashOfSources() {
  const hash = createHash('sha256');
  for (const file of sourceFiles()) hash.update(`\0${file}\0`).update(readFileSync(file));
  return hash.digest('hex');
}

function isFresh(sources) {
  try {
    const stamp = JSON.parse(readFileSync(join(PLACE, STAMP), 'utf8'));
    return stamp.sources === sources && BUNDLES.every((file) => existsSync(join(PLACE, file)));
  } catch {
    return false;
  }
}

let compiler;
let stoppedBy;

/** Whether it compiled. */
async function compileInto(folder) {
  const tsc = join(dirname(require.resolve('typescript/package.json')), 'bin', 'tsc');
  const argv = [tsc, '-p', CONFIG, '--outDir', folder];
  if (process.stdout.isTTY) argv.push('--pretty');
  // It starts a process of its own: a group can be ended as a whole, and pipes close when the last of it is gone.
  compiler = spawn(process.execPath, argv, {
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: ENDS_BY_GROUP,
  });
  compiler.stdout.pipe(process.stdout);
  compiler.stderr.pipe(process.stderr);
  const code = await new Promise((resolve, reject) => {
    compiler.once('error', reject).once('close', resolve);
  });
  compiler = undefined;
  return code === 0 && stoppedBy === undefined && isListed(folder);
}

/** Whether the list of folders has all that were compiled: of others nobody would see that they change. */
function isListed(folder) {
  const compiled = readdirSync(folder, { withFileTypes: true }).filter((entry) =>
    entry.isDirectory(),
  );
  const missing = compiled.map(({ name }) => name).filter((name) => !include.includes(name));
  if (missing.length > 0) console.error(`tsconfig.json must include ${missing.join(', ')}.`);
  return missing.length === 0;
}

function finish(folder, sources) {
  if (!WITH_LAB) pruneTypes(folder, declarationsOfEntries());
  loadLazily(folder);
  bundlePackages(folder);
  chmodSync(join(folder, 'cli', 'main.js'), 0o755);
  const { packedTemplates } = require('./create-holdfast/pack-templates.cjs');
  writeFileSync(join(folder, 'create-holdfast', 'templates.json'), packedTemplates());
  // Sources that changed meanwhile may be in it or not.
  if (hashOfSources() === sources) writeFileSync(join(folder, STAMP), JSON.stringify({ sources }));
}

function declarationsOfEntries() {
  const entries = Object.values(require('./package.json').exports);
  return entries.map(({ types }) => relative('dist', types));
}

/** Whether the page could be made; what is wrong with it was told. */
function makePage(folder) {
  try {
    buildPage('console/page', join(folder, 'console', 'page'));
    return true;
  } catch (error) {
    console.error(`The page was not built: ${error.message}`);
    return false;
  }
}

function takePlace(made, old) {
  if (existsSync(PLACE)) renameSync(PLACE, old);
  try {
    renameSync(made, PLACE);
  } catch (error) {
    if (existsSync(old)) renameSync(old, PLACE);
    throw error;
  }
}

/** Bundles name the folder that they were made in, so this is done in place; a worker that comes earlier makes its own. */
async function bundle() {
  const place = join(__dirname, PLACE);
  await require(join(place, 'worker', 'workflow-code.js')).writeWorkflowBundle();
  await require(join(place, 'examples', 'refund', 'business', 'bundle.js')).writeBusinessBundle();
  compactLines(join(PLACE, 'workflows', 'bundle.js'));
  compact(join(PLACE, 'examples', 'refund', 'business', 'refund-process.bundle.js'));
  refuseLateImports(join(PLACE, 'workflows', 'bundle.js'));
}

/** In a workflow nothing may depend on what was used before. */
function refuseLateImports(file) {
  if (!readFileSync(file, 'utf8').includes(ONCE)) return;
  rmSync(join(PLACE, STAMP), { force: true });
  throw new Error(
    `${file} has a module that loads another one late: build-lazy.cjs must leave its folder as compiled.`,
  );
}

/** What builds left that were killed; one was killed between two renames if nothing has their place. */
function clearAway() {
  for (const name of readdirSync('.')) {
    const [, place, kind, pid] = /^(\w+)\.(new|old)-(\d+)$/.exec(name) ?? [];
    if (place !== PLACE || isAlive(Number(pid))) continue;
    if (kind === 'old' && !existsSync(PLACE)) renameSync(name, PLACE);
    else remove(name);
  }
}

/** Also while somebody still writes there, for a second. */
function remove(folder) {
  rmSync(folder, { recursive: true, force: true, maxRetries: 10, retryDelay: 20 });
}

function isAlive(pid) {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return error.code === 'EPERM';
  }
}

async function build() {
  const sources = hashOfSources();
  if (process.argv.includes('--if-stale') && isFresh(sources)) return 0;
  clearAway();
  const [made, old] = [`${PLACE}.new-${process.pid}`, `${PLACE}.old-${process.pid}`];
  try {
    if (!(await compileInto(made)) || !makePage(made)) return 2;
    finish(made, sources);
    takePlace(made, old);
  } finally {
    for (const folder of [made, old]) remove(folder);
  }
  await bundle();
  return 0;
}

function tellCompiler(signal) {
  try {
    process.kill(ENDS_BY_GROUP ? -compiler.pid : compiler.pid, signal);
  } catch (error) {
    // It is over, and this will hear of it.
    if (error.code !== 'ESRCH') throw error;
  }
}

for (const signal of SIGNALS) {
  process.on(signal, () => {
    stoppedBy = signal;
    // Without a compiler there is nothing to clear away; the next build bundles anew.
    if (compiler === undefined) process.exit(128 + constants.signals[signal]);
    tellCompiler(signal);
  });
}

build().then(
  (code) => {
    process.exitCode = stoppedBy === undefined ? code : 128 + constants.signals[stoppedBy];
  },
  (error) => {
    console.error(error);
    process.exitCode = 1;
  },
);
