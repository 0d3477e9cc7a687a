// The package goes without what none of its users can reach: declarations that no entry leads to, compiled files of
// types alone, which nothing loads, and comments of code, which stand in the declarations and the sources.
const { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } = require('node:fs');
const { dirname, join, relative, resolve } = require('node:path');
const { transformSync } = require('esbuild');

const DECLARATIONS = '.d.ts';
const CODE = '.js';
const IMPORTED = /(?:\bfrom|\bimport|\brequire)\s*\(?\s*['"](\.{1,2}\/[^'"]+)\.js['"]/g;
/** What the compiler writes at the head of each module. */
const HEAD = ['"use strict";', 'Object.defineProperty(exports, "__esModule", { value: true });'];

/** `entries`: declarations that package.json exports, as paths in `folder`. */
function pruneTypes(folder, entries) {
  const reached = reachedFrom(entries.map((entry) => resolve(folder, entry)));
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' });
  const having = (extension) =>
    files.filter((name) => name.endsWith(extension)).map((name) => resolve(folder, name));
  for (const file of having(DECLARATIONS)) {
    if (reached.has(file)) writeFileSync(file, narrowTypes(readFileSync(file, 'utf8')));
    else rmSync(file);
  }
  const code = having(CODE);
  const entryCode = new Set(
    entries.map((entry) => resolve(folder, entry.replace(/\.d\.ts$/, CODE))),
  );
  const loaded = new Set(code.flatMap((file) => importsOf(file, CODE)));
  for (const file of code) {
    if (!loaded.has(file) && isEmpty(file)) rmSync(file);
    else writeFileSync(file, shortened(file, entryCode.has(file)));
  }
}

function shortened(file, isEntry) {
  const written = withoutNamespaces(withoutComments(readFileSync(file, 'utf8')));
  if (DEFAULT_OF_OWN.test(written))
    throw new Error(
      `${relative('.', file)} takes a default export of a module: import it by name.`,
    );
  return isEntry ? written : written.replace(MARK, '');
}

/** Who takes a default export asks whether a module was one of ES: others of an entry, nobody here of a module of our own. */
const DEFAULT_OF_OWN = /\b__importDefault\(require\("\.[^"]+\.js"\)\)/;
const MARK = /^Object\.defineProperty\(exports,"__esModule",\{value:!0\}\);\n/m;

/** `import * as` of a module of our own is that module: what copies another's names takes a kilobyte of each file. */
function withoutNamespaces(code) {
  const written = code.replace(/\b__importStar\((require\("\.[^"]+"\))\)/g, '$1');
  return /\b__(?:importStar\(|exportStar\b)/.test(written) ? written : written.replace(COPYING, '');
}

const COPYING = /^var __createBinding = [^]*?^\}\)\(\);\n/m;

/** A first line that names the program to run it with stays. */
function withoutComments(code) {
  const { code: written } = transformSync(withoutLineComments(code), {
    legalComments: 'none',
    charset: 'utf8',
    target: 'node20',
  });
  return narrowHeads(narrowCalls(withoutNotes(narrow(withoutCommentLines(written)))));
}

/** Functions of our own modules do not look at what they are called on. */
function narrowCalls(code) {
  return code.replace(/\(0, (\w+_js_\d+\.\w+)\)\(/g, '$1(');
}

/** What stands in each of more than a thousand files, and what gives an export of another module; Node's lexer knows both. */
function narrowHeads(code) {
  return code
    .replace(HEAD[1], 'Object.defineProperty(exports,"__esModule",{value:!0});')
    .replaceAll(
      /^Object\.defineProperty\(exports, ("\w+"), \{ enumerable: true, get: function\(\) \{\n\s+return ([\w.$]+);\n\} \}\);$/gm,
      'Object.defineProperty(exports,$1,{enumerable:true,get:function(){return $2}});',
    );
}

/**
 * The printer keeps those within an expression. Where each line closes the templates that begin in it, a line that begins
 * with slashes is a comment.
 */
function withoutLineComments(code) {
  const isClosed = code.split('\n').every((line) => line.split('`').length % 2 === 1);
  return isClosed ? code.replace(/^ *\/\/ .*\n/gm, '') : code;
}

/** What the printer has kept of them goes where nothing else changes: lines within a text are none. */
function withoutCommentLines(code) {
  const rest = code.replace(/^ *(?:\/\/ .*|\/\*\*[^]*?\*\/)\n/gm, '');
  return rest === code || withoutBlanks(rest) === withoutBlanks(code) ? rest : code;
}

/** Notes for bundlers; and of exports that are given their values below, that they have none yet: no module is in a circle. */
function withoutNotes(code) {
  return code
    .replaceAll('/* @__PURE__ */ ', '')
    .replace(/^(?:exports\.\w+ = )+void 0;\n/gm, (line) => {
      const names = Array.from(line.matchAll(/exports\.(\w+)/g), ([, name]) => name);
      const rest = code.replace(line, '');
      return names.every((name) => new RegExp(`\\bexports\\.${name} = `).test(rest)) ? '' : line;
    });
}

/** One blank for each level, where that changes nothing but the width: blanks within a text of several lines are no indentation. */
function narrow(code) {
  const narrower = code.replace(/^(?: {2})+/gm, (blanks) => ' '.repeat(blanks.length / 2));
  const isSame = !code.includes('`') || withoutBlanks(narrower) === withoutBlanks(code);
  return isSame ? narrower : code;
}

/** Declarations have texts in one line alone. */
function narrowTypes(types) {
  return types.replace(/^(?: {4})+/gm, (blanks) => ' '.repeat(blanks.length / 4));
}

function withoutBlanks(code) {
  return transformSync(code, { minifyWhitespace: true, charset: 'utf8' }).code;
}

function reachedFrom(files) {
  const reached = new Set();
  const waiting = [...files];
  for (let file = waiting.pop(); file !== undefined; file = waiting.pop()) {
    if (reached.has(file)) continue;
    if (!existsSync(file)) throw new Error(`${relative('.', file)} is imported and not compiled.`);
    reached.add(file);
    waiting.push(...importsOf(file, DECLARATIONS));
  }
  return reached;
}

function importsOf(file, extension) {
  return Array.from(readFileSync(file, 'utf8').matchAll(IMPORTED), ([, path]) =>
    join(dirname(file), `${path}${extension}`),
  );
}

function isEmpty(file) {
  const text = HEAD.reduce((rest, line) => rest.replace(line, ''), readFileSync(file, 'utf8'));
  return text.replace(/\/\*[^]*?\*\/|\/\/.*/g, '').trim() === '';
}

module.exports = { pruneTypes };
