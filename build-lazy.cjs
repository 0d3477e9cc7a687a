// A compiled module loads another when something of that other one is used first: a command, and a program that imports
// `holdfast`, pay for what they do. Code that runs in workflows, and the projection for browsers, stays as compiled:
// there nothing may depend on what was used before.
const { readdirSync, readFileSync, writeFileSync } = require('node:fs');
const { join } = require('node:path');

/**
 * As the compiler writes imports by name; those of Node's own modules cost nothing. An import for its effect alone has no
 * variable, and stays; so does one for an `export from`, which has a `var`: Node finds the names of ES modules only where
 * that is written as compilers do.
 */
const IMPORT = /^const (\w+_\d+) = require\("((?!node:)[^"]+)"\);$/gm;
const AS_COMPILED = /^(?:core|pure|workflows|http\/projection)\//;

/** A module of this package that is asked for when it is needed, which nobody asks for its default export. */
const ASKED_FOR = /\bimport\(("\.[^"]+")\)/g;
const OF_COMMONJS = /^"use strict";$/m;

/** What is loaded is kept: Node's own look into what is loaded costs a thousand times as much. */
const ONCE = 'const $=(f,x)=>()=>x??=f();';

/** All compiled files below `folder`. */
function loadLazily(folder) {
  for (const name of readdirSync(folder, { recursive: true, encoding: 'utf8' })) {
    const path = name.replaceAll('\\', '/');
    if (!path.endsWith('.js') || path.endsWith('.bundle.js')) continue;
    const compiled = readFileSync(join(folder, name), 'utf8');
    const written = AS_COMPILED.test(path) ? withShortNames(compiled) : lazily(compiled);
    if (written !== compiled) writeFileSync(join(folder, name), written);
  }
}

/** Node's own modules, by shorter names; their functions do not look at what they are called on. */
function withNode(compiled) {
  const names = Array.from(compiled.matchAll(OF_NODE), ([, name]) => name);
  if (names.length === 0) return compiled;
  return compiled
    .replace(new RegExp(`\\(0, ((?:${names.join('|')})\\.\\w+)\\)\\(`, 'g'), '$1(')
    .replace(/\bnode_([a-z_]+)_1\b/g, '$$$1');
}

/** Node's loader of ES modules is dear to begin with, and looks through each CommonJS module for what it exports. */
function withRequire(compiled) {
  if (!OF_COMMONJS.test(compiled)) return compiled;
  return compiled.replace(ASKED_FOR, '(async()=>require($1))()');
}

const OF_NODE = /^const (\w+_\d+) = require\("node:[^"]+"\);$/gm;

function lazily(compiled) {
  const code = withRequire(withNode(compiled));
  const names = Array.from(code.matchAll(IMPORT), ([, name]) => name).filter((name) =>
    isReadByMember(code, name),
  );
  if (names.length === 0) return code;
  // A name stands for its module wherever that is used: a letter more of it is ten kilobytes of the package.
  const lazy = new Map(names.map((name, index) => [name, `$${index}`]));
  const alias = names.join('|');
  return code
    .replace(
      new RegExp(`\\bnew (${alias})((?:\\.\\w+)+)`, 'g'),
      (_, name, path) => `new (${lazy.get(name)}()${path})`,
    )
    .replace(new RegExp(`\\b(?:${alias})(?=\\.)`, 'g'), (name) => `${lazy.get(name)}()`)
    .replace(/\(0, (\$\d+\(\)\.\w+)\)\(/g, '$1(')
    .replace(IMPORT, (line, name, from) =>
      lazy.has(name) ? `const ${lazy.get(name)}=$(()=>require("${from}"));` : line,
    )
    .replace(/^(?=const .*=\$\(\(\)=>require)/m, `${ONCE}\n`)
    .replace(/(=\$\(.*\));\nconst (?=.*=\$\()/g, '$1,\n');
}

/** Of names that the compiler makes: of a module of this package without what each of them has, of others as they are. */
function short(name) {
  return name.replace(/_js_1$/, '$$').replace(/_js_(\d+)$/, '$$$1');
}

/** Loaded as compiled, by the names that modules have which are loaded late. */
function withShortNames(compiled) {
  const names = Array.from(compiled.matchAll(IMPORT), ([, name]) => name).filter(
    (name) => short(name) !== name && !compiled.includes(short(name)),
  );
  if (names.length === 0) return compiled;
  return compiled.replace(new RegExp(`\\b(?:${names.join('|')})\\b`, 'g'), short);
}

/** Whether all that stands of it, besides its import, is `name.member`. */
function isReadByMember(code, name) {
  const all = code.match(new RegExp(`\\b${name}\\b`, 'g')).length;
  const members = code.match(new RegExp(`\\b${name}\\.\\w`, 'g'))?.length ?? 0;
  return all === members + 1;
}

module.exports = { loadLazily, ONCE };
