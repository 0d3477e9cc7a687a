// Bundles of workflow code without what nobody reads there.
const { readFileSync, writeFileSync } = require('node:fs');
const { parse } = require('acorn');
const { transformSync } = require('esbuild');

/** Webpack's, which stand in each of its modules, and as what. */
const NAMES = { __webpack_require__: '$r', __unused_webpack_module: '$m' };

/** Two fifths of a bundle are comments and blanks. */
function compact(file) {
  writeFileSync(file, withoutBlanks(readFileSync(file, 'utf8')));
}

/** Each line stays the one that a source map names. */
function compactLines(file) {
  let code = readFileSync(file, 'utf8');
  const narrower = withinLines(code);
  // A blank that means something is none that may go.
  if (withoutBlanks(narrower) !== withoutBlanks(code))
    throw new Error(`${file} means something else without the blanks within its lines.`);
  code = narrower;
  for (const [name, short] of Object.entries(NAMES)) {
    if (!code.includes(short)) code = code.replaceAll(name, short);
  }
  writeFileSync(file, code);
}

/** Without blanks and comments between the words of a line. */
function withinLines(code) {
  const tokens = [];
  parse(code, { ecmaVersion: 'latest', onToken: tokens });
  let written = '';
  let last = 0;
  for (const { start, end } of tokens) {
    written += between(code.slice(last, start), code[last - 1] ?? '', code[start] ?? '');
    written += code.slice(start, end);
    last = end;
  }
  return written + code.slice(last);
}

const PART_OF_NAME = /[\w$\u0080-\uffff]/;

function between(gap, before, after) {
  if (gap.includes('sourceMappingURL')) return gap;
  const lines = gap.replaceAll(/[^\n]/g, '');
  if (gap === '' || lines !== '') return lines;
  const areJoined = PART_OF_NAME.test(before) && PART_OF_NAME.test(after);
  // `+ +`, `1 .toString()` and `< !--`.
  const isApart =
    before === after || (/\d/.test(before) && after === '.') || (before === '<' && after === '!');
  return areJoined || isApart ? ' ' : '';
}

function withoutBlanks(code) {
  const options = { loader: 'js', legalComments: 'none', minifyWhitespace: true };
  return transformSync(code, options).code;
}

module.exports = { compact, compactLines };
