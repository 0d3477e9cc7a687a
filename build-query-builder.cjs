// The builder of queries in one file of this package, with its license: as 260 modules it takes six times as long to load.
// A third of it, which no query of the store comes to, stays at home. Tests run with the same file (test/compiled.ts).
const { buildSync } = require('esbuild');
const { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } = require('node:fs');
const { join, resolve } = require('node:path');

const PACKAGE = join(__dirname, 'node_modules', 'kysely');

/** Modules in whose place stands an error, and with them what only they lead to. */
const LEFT_OUT = [
  'schema/schema.js',
  'plugin/with-schema/with-schema-plugin.js',
  'query-builder/merge-query-builder.js',
  'dialect/sqlite/sqlite-introspector.js',
];
const EXPORTED = /^export (?:class|function|const) (\w+)/gm;
const ERROR = `export const leftOut = (name) => function () {
  throw new Error(\`The builder of queries of this package is without \${name}: take it off the list in build-query-builder.cjs, then build again.\`);
};`;

/** Its types reach no entry: in declarations they are names. */
const TYPES = `export type Kysely<Tables> = { readonly tables?: Tables };
export type Expression<T> = { readonly value?: T };
export type AliasedRawBuilder<T, Name> = { readonly value?: T; readonly name?: Name };
export type SqlBool = boolean;
`;

/** `store`: the folder that its compiled module is in, whose place it takes. */
function bundleQueryBuilder(store) {
  mkdirSync(store, { recursive: true });
  // Not asynchronous, as plugins of the bundler are: no signal comes between the pieces of a build.
  const parts = mkdtempSync(resolve(store, 'parts-'));
  try {
    copyParts(parts);
    buildSync({
      entryPoints: [join(__dirname, 'store', 'query-builder.ts')],
      outfile: join(store, 'query-builder.js'),
      alias: { kysely: join(parts, 'index.js') },
      bundle: true,
      minify: true,
      // An error shows the line that it comes from.
      lineLimit: 240,
      format: 'cjs',
      platform: 'neutral',
      target: 'node20',
      legalComments: 'none',
      logLevel: 'warning',
    });
  } finally {
    rmSync(parts, { recursive: true, force: true });
  }
  writeFileSync(join(store, 'query-builder.d.ts'), TYPES);
  cpSync(join(PACKAGE, 'LICENSE'), join(store, 'query-builder-license.txt'));
}

function copyParts(folder) {
  const isCode = (name) => !name.endsWith('.d.ts');
  cpSync(join(PACKAGE, 'dist', 'esm'), folder, { recursive: true, filter: isCode });
  // As the package says it: a module that nothing names is not taken.
  writeFileSync(join(folder, 'package.json'), '{ "type": "module", "sideEffects": false }');
  writeFileSync(join(folder, 'left-out.js'), ERROR);
  for (const module of LEFT_OUT) {
    const code = readFileSync(join(folder, module), 'utf8');
    const names = Array.from(code.matchAll(EXPORTED), ([, name]) => name);
    const up = '../'.repeat(module.split('/').length - 1);
    const stated = names.map((name) => `export const ${name} = leftOut('${name}');`);
    const stands = [`import { leftOut } from '${up}left-out.js';`, ...stated].join('\n');
    writeFileSync(join(folder, module), stands);
  }
}

module.exports = { bundleQueryBuilder };
