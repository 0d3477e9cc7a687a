// What the package adds to a project beyond Temporal's SDK, SQLite's addon and the SDKs of models, in KiB: the sizes of
// all that is installed and that those do not bring along. Run in the project.
const { spawnSync } = require('node:child_process');
const { packages } = require(`${process.cwd()}/package-lock.json`);

const GIVEN = /^(?:@temporalio\/.*|better-sqlite3|@anthropic-ai\/sdk|openai)$/;
const nameOf = (place) => place.slice(place.lastIndexOf('node_modules/') + 'node_modules/'.length);

/** As Node looks for it: in the folder of whoever asks, then above. */
function placeOf(asking, name) {
  for (let at = asking; ; at = at.slice(0, Math.max(0, at.lastIndexOf('/node_modules/')))) {
    const place = `${at === '' ? '' : `${at}/`}node_modules/${name}`;
    if (packages[place] !== undefined) return place;
    if (at === '') return undefined;
  }
}

const given = new Set(Object.keys(packages).filter((place) => place && GIVEN.test(nameOf(place))));
for (const place of given) {
  const { dependencies = {}, optionalDependencies = {} } = packages[place];
  for (const name of Object.keys({ ...dependencies, ...optionalDependencies })) {
    const found = placeOf(place, name);
    if (found !== undefined) given.add(found);
  }
}
const added = Object.keys(packages).filter((place) => place !== '' && !given.has(place));
const { stdout } = spawnSync(
  'du',
  ['-sk', '--apparent-size', '--exclude=*/node_modules', ...added],
  { encoding: 'utf8' },
);
if (!stdout) throw new Error('du gives no sizes.');
const sizes = stdout
  .trim()
  .split('\n')
  .map((line) => line.split('\t'));
console.log(sizes.reduce((sum, [kib]) => sum + Number(kib), 0));
if (process.argv.includes('--list'))
  for (const [kib, place] of sizes.sort(([a], [b]) => b - a).slice(0, 15)) console.log(kib, place);
