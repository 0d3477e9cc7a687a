// The templates as one file, `{path: content}`, which packages have in place of the folder: thirty files take more room.
const { readdirSync, readFileSync } = require('node:fs');
const { join, relative, sep } = require('node:path');

const FOLDER = join(__dirname, 'templates');

function packedTemplates() {
  const files = readdirSync(FOLDER, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => join(parentPath, name))
    .sort();
  const pathOf = (file) => relative(FOLDER, file).split(sep).join('/');
  return JSON.stringify(
    Object.fromEntries(files.map((file) => [pathOf(file), readFileSync(file, 'utf8')])),
  );
}

module.exports = { packedTemplates };
