// Makes the package create-holdfast in a folder (default dist-create-holdfast): one script of its sources, and the
// templates. `npm pack` or `npm publish` there does the rest.
const { chmodSync, cpSync, mkdirSync, rmSync, writeFileSync } = require('node:fs');
const { join, resolve } = require('node:path');
const { buildSync } = require('esbuild');
const { packedTemplates } = require('./create-holdfast/pack-templates.cjs');

const SOURCES = join(__dirname, 'create-holdfast');
const place = resolve(process.argv[2] ?? join(__dirname, 'dist-create-holdfast'));

rmSync(place, { recursive: true, force: true });
mkdirSync(place, { recursive: true });
buildSync({
  entryPoints: [join(SOURCES, 'main.ts')],
  outfile: join(place, 'dist', 'main.js'),
  bundle: true,
  platform: 'node',
  target: 'node20',
  format: 'cjs',
  legalComments: 'none',
});
chmodSync(join(place, 'dist', 'main.js'), 0o755);
writeFileSync(join(place, 'templates.json'), packedTemplates());
for (const name of ['package.json', 'README.md']) cpSync(join(SOURCES, name), join(place, name));
cpSync(join(__dirname, 'LICENSE'), join(place, 'LICENSE'));
