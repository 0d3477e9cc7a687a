// Packages whose part in use stands in a file of this package, with its license. Of signatures the decisions use a
// hundredth, and a history replays only if each gets the verdict that its run saw: their code comes with the rules.
const { buildSync } = require('esbuild');
const { cpSync, readdirSync, readFileSync, writeFileSync } = require('node:fs');
const { dirname, join, relative } = require('node:path');
const { bundleQueryBuilder } = require('./build-query-builder.cjs');

const BUNDLED = ['@noble/curves', '@noble/hashes'];
const FILE = 'noble.js';
const IMPORT = new RegExp(`const (\\w+) = require\\("((?:${BUNDLED.join('|')})/[^"]+)"\\);`, 'g');

/** Of compiled files below `folder`, those of the core import these packages. */
function bundlePackages(folder) {
  const core = join(folder, 'core');
  const exported = new Set();
  for (const name of readdirSync(core, { recursive: true, encoding: 'utf8' })) {
    if (!name.endsWith('.js')) continue;
    const file = join(core, name);
    const code = readFileSync(file, 'utf8');
    const from = relative(dirname(file), join(core, FILE)).replaceAll('\\', '/');
    const bundled = code.replace(IMPORT, (_, variable, module) => {
      for (const [, member] of code.matchAll(new RegExp(`\\b${variable}\\.(\\w+)`, 'g')))
        exported.add(`export { ${member} } from '${module}';`);
      return `const ${variable} = require("${from.startsWith('.') ? from : `./${from}`}");`;
    });
    if (bundled !== code) writeFileSync(file, bundled);
  }
  writeBundle([...exported].sort(byCode).join('\n'), join(core, FILE));
  // Both have the same one.
  cpSync(join('node_modules', BUNDLED[0], 'LICENSE'), join(core, 'noble-license.txt'));
  bundleQueryBuilder(join(folder, 'store'));
}

const byCode = (a, b) => (a < b ? -1 : 1);

/** Two modules with one name do not compile. */
function writeBundle(contents, outfile) {
  buildSync({
    stdin: { contents, resolveDir: __dirname },
    outfile,
    bundle: true,
    minifyWhitespace: true,
    minifyIdentifiers: true,
    format: 'cjs',
    platform: 'neutral',
    target: 'es2022',
    legalComments: 'none',
    logLevel: 'warning',
  });
}

module.exports = { bundlePackages };
