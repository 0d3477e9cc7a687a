// Builds the console's page into a folder: each script and stylesheet that its index.html names is bundled, with what it
// loads later in files of their own, and what browsers read as it is written is copied. No source of the page comes along.
const { cpSync, existsSync, mkdirSync, readdirSync, readFileSync } = require('node:fs');
const { dirname, extname, join } = require('node:path');

/** What is copied. */
const STATIC = ['.html', '.svg'];
/** What a named file may be made of. */
const SOURCES = { '.js': ['.tsx', '.ts', '.js'], '.css': ['.css'] };
const NAMED = /(?:src|href)="\/([\w/-]+)(\.js|\.css)"/g;

/** Throws when the page does not compile, after it was told why. */
function buildPage(from, to) {
  mkdirSync(to, { recursive: true });
  for (const file of readdirSync(from)) {
    if (STATIC.includes(extname(file))) cpSync(join(from, file), join(to, file));
  }
  const html = readFileSync(join(from, 'index.html'), 'utf8');
  const entryPoints = [...html.matchAll(NAMED)].map(([, name, type]) =>
    sourceOf(join(from, name), type),
  );
  if (entryPoints.length === 0) return;
  // Not asynchronous: no signal comes between the pieces of a build.
  require('esbuild').buildSync({
    entryPoints,
    outdir: to,
    outbase: from,
    bundle: true,
    minify: true,
    format: 'esm',
    // Views that few people open are fetched when they are.
    splitting: true,
    chunkNames: 'part-[hash]',
    target: 'es2022',
    jsx: 'automatic',
    jsxImportSource: 'preact',
    logLevel: 'warning',
  });
  // A license wants to be where its code is.
  for (const name of ['preact', 'uplot']) {
    const folder = dirname(require.resolve(`${name}/package.json`));
    cpSync(join(folder, 'LICENSE'), join(to, `${name}-license.txt`));
  }
}

function sourceOf(path, type) {
  const source = SOURCES[type].map((ending) => path + ending).find((file) => existsSync(file));
  if (source === undefined) throw new Error(`index.html names ${path}${type}, which has no source`);
  return source;
}

module.exports = { buildPage };
