// Bundles of workflow code without what nobody reads there.
const { readFileSync, writeFileSync } = require('node:fs');
const { transformSync } = require('esbuild');

const PLAIN = { loader: 'js', legalComments: 'none', minifyWhitespace: true };

/** Webpack's, which stand in each of its modules, and as what. */
const NAMES = { __webpack_require__: '$r', __unused_webpack_module: '$m' };

/** More than half of a bundle are comments, blanks and long names of what is local. Temporal knows workflows by names of exports. */
function compact(file) {
  const options = { ...PLAIN, minifyIdentifiers: true, keepNames: true };
  writeFileSync(file, transformSync(readFileSync(file, 'utf8'), options).code);
}

/** Each line stays the one that a source map names. */
function compactLines(file) {
  let code = readFileSync(file, 'utf8');
  const narrower = code.replace(/^[ \t]+/gm, '');
  // Blanks within a text of several lines are no indentation.
  if (withoutBlanks(narrower) === withoutBlanks(code)) code = narrower;
  for (const [name, short] of Object.entries(NAMES)) {
    if (!code.includes(short)) code = code.replaceAll(name, short);
  }
  writeFileSync(file, code);
}

function withoutBlanks(code) {
  return transformSync(code, PLAIN).code;
}

module.exports = { compact, compactLines };
