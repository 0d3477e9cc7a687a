// A compiled module loads another when something of that other one is used first: a command, and a program that imports
// `holdfast`, pay for what they do. Code that runs in workflows, and the projection for browsers, stays as compiled:
// there nothing may depend on what was used before.
const { readdirSync, readFileSync, writeFileSync } = require('node:fs');
const { join } = require('node:path');

/**
 * As the compiler writes imports by name. An import for its effect alone has no variable, and stays; so does one for an
 * `export from`, which has a `var`: Node finds the names of ES modules only where that is written as compilers do.
 */
const IMPORT = /^const (\w+_\d+) = require\("([^"]+)"\);$/gm;
const AS_COMPILED = /^(?:core|pure|workflows|http\/projection)\//;

/** All compiled files below `folder`. */
function loadLazily(folder) {
  for (const name of readdirSync(folder, { recursive: true, encoding: 'utf8' })) {
    const path = name.replaceAll('\\', '/');
    if (!path.endsWith('.js') || path.endsWith('.bundle.js') || AS_COMPILED.test(path)) continue;
    const code = readFileSync(join(folder, name), 'utf8');
    const lazy = lazily(code);
    if (lazy !== code) writeFileSync(join(folder, name), lazy);
  }
}

function lazily(code) {
  const names = Array.from(code.matchAll(IMPORT), ([, name]) => name).filter((name) =>
    isReadByMember(code, name),
  );
  if (names.length === 0) return code;
  const lazy = new Set(names);
  return code
    .replace(new RegExp(`\\bnew (${names.join('|')})((?:\\.\\w+)+)`, 'g'), 'new ($1()$2)')
    .replace(new RegExp(`\\b(?:${names.join('|')})(?=\\.)`, 'g'), '$&()')
    .replace(IMPORT, (line, name, from) =>
      lazy.has(name)
        ? `let ${name}_; const ${name} = () => ${name}_ ??= require("${from}");`
        : line,
    );
}

/** Whether all that stands of it, besides its import, is `name.member`. */
function isReadByMember(code, name) {
  const all = code.match(new RegExp(`\\b${name}\\b`, 'g')).length;
  const members = code.match(new RegExp(`\\b${name}\\.\\w`, 'g'))?.length ?? 0;
  return all === members + 1;
}

module.exports = { loadLazily };
