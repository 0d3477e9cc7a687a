// What loading costs, in a project that has the package: `holdfast` takes at most 1.1 times the processor time of
// `@temporalio/client` and loads nothing of Temporal, of databases, of its builder of queries or of models; `holdfast
// --help` loads no package but its parser of commands. Each time is the smallest of several processes, taken in turn.
const { spawnSync } = require('node:child_process');
const { realpathSync } = require('node:fs');
const { join } = require('node:path');

const PROCESSES = 9;
const RATIO_MAX = 1.1;
const DIST = join(process.cwd(), 'node_modules', 'holdfast', 'dist');
/** A package once, and a file of this one now. */
const QUERY_BUILDER = 'store/query-builder.js';
const LATE =
  /^(?:@temporalio\/|@anthropic-ai\/|@modelcontextprotocol\/|openai$|better-sqlite3$|store\/query-builder\.js$|pg$|hono$|@hono\/)/;
const COUNTED = `
  const packages = new Set(Object.keys(require.cache).map((file) =>
    /.*node_modules[\\\\/]((?:@[^\\\\/]+[\\\\/])?[^\\\\/]+)/.exec(file)?.[1].replace('\\\\', '/')));
  if (Object.hasOwn(require.cache, ${JSON.stringify(realpathSync(join(DIST, QUERY_BUILDER)))}))
    packages.add('${QUERY_BUILDER}');
  process.stderr.write(JSON.stringify([...packages].filter((name) => name !== undefined)));`;

function run(code, ...args) {
  const { status, stderr, stdout } = spawnSync(process.execPath, ['-e', code, '--', ...args], {
    encoding: 'utf8',
  });
  if (status !== 0) throw new Error(stderr);
  return { stderr, stdout };
}

const packagesOf = (code, ...args) => JSON.parse(run(code, ...args).stderr);
const millisecondsOf = (name) =>
  Number(
    run(`const before = process.cpuUsage(); require('${name}'); const { user, system } = process.cpuUsage(before);
      console.log((user + system) / 1000)`).stdout,
  );

let failures = 0;
function check(isHeld, words) {
  console.log(`${isHeld ? 'ok' : 'not ok'}: ${words}`);
  if (!isHeld) failures += 1;
}

const least = { holdfast: Infinity, '@temporalio/client': Infinity };
for (let process = 0; process < PROCESSES; process += 1)
  for (const name of Object.keys(least)) least[name] = Math.min(least[name], millisecondsOf(name));
const ratio = least.holdfast / least['@temporalio/client'];
check(
  ratio <= RATIO_MAX,
  `holdfast loads in ${ratio.toFixed(2)} of the processor time of @temporalio/client`,
);

const early = packagesOf(`require('holdfast'); ${COUNTED}`).filter((name) => LATE.test(name));
check(
  early.length === 0,
  `holdfast loads late what may not be used (early: ${early.join(', ') || 'none'})`,
);

const opened = packagesOf(
  `require('holdfast').openStore({ file: ':memory:' }).then(() => { ${COUNTED} });`,
);
check(opened.includes(QUERY_BUILDER), `a store that is opened has loaded ${QUERY_BUILDER}`);

const main = join(DIST, 'cli', 'main.js');
const helped = packagesOf(
  `process.argv = [process.argv[0], 'holdfast', '--help'];
  process.on('exit', () => { ${COUNTED} });
  require(${JSON.stringify(main)});`,
).filter((name) => name !== 'holdfast' && name !== 'commander');
check(
  helped.length === 0,
  `holdfast --help loads its parser alone (beside it: ${helped.join(', ') || 'none'})`,
);
process.exitCode = failures === 0 ? 0 : 1;
