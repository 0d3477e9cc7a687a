/**
 * Gathers what the site shows in `site/pages/`: the documents, the README as the first page, the examples, and pages of the API from the
 * docstrings. A link to a file that is no page leads to the repository.
 */
import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, posix, relative } from 'node:path';
import { fileURLToPath } from 'node:url';

const HERE = dirname(fileURLToPath(import.meta.url));
const ROOT = join(HERE, '..');
const PAGES = join(HERE, 'pages');
/** Records of the project, which no reader needs. */
const LEFT_OUT = ['docs/progress.md', 'docs/reference/measured.md'];

const { repository } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'));
const FILES_AT = repository.url.replace(/^git\+/, '').replace(/\.git$/, '/blob/main/');

/** Where a document stands in the site; `undefined` for a file that is no page. */
function pageOf(file) {
  if (LEFT_OUT.includes(file) || !file.endsWith('.md')) return undefined;
  if (file === 'README.md') return 'introduction.md';
  if (file === 'CONTRIBUTING.md') return 'contributing.md';
  if (file === 'create-holdfast/README.md') return 'guide/create-holdfast.md';
  const [, example] = /^examples\/(\w[\w-]*)\/README\.md$/.exec(file) ?? [];
  if (example !== undefined) return `examples/${example}.md`;
  return file.startsWith('docs/') ? file.slice('docs/'.length) : undefined;
}

const files = execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard'], {
  cwd: ROOT,
  encoding: 'utf8',
}).split('\n');
const known = new Set(files);

/** A relative link of a document as one of its page. */
function linkOf(from, link) {
  const [path, anchor] = link.split('#');
  if (path === '') return link;
  const file = posix.normalize(posix.join(posix.dirname(from), path)).replace(/\/$/, '');
  const page =
    pageOf(file) ?? (known.has(`${file}/README.md`) ? pageOf(`${file}/README.md`) : undefined);
  const end = anchor === undefined ? '' : `#${anchor}`;
  if (page === undefined || !known.has(file) === !known.has(`${file}/README.md`))
    return `${FILES_AT}${file}${end}`;
  const steps = posix.relative(posix.dirname(pageOf(from)), page);
  return `${steps.startsWith('.') ? steps : `./${steps}`}${end}`;
}

/** Prose with the links of the site; blocks of code as they are. */
function textOf(from) {
  const parts = readFileSync(join(ROOT, from), 'utf8').split(/(^```[\s\S]*?^```$)/m);
  const linked = (prose) =>
    prose.replaceAll(
      /\]\((?!https?:|mailto:)([^)\s]+)\)/g,
      (_whole, link) => `](${linkOf(from, link)})`,
    );
  return parts.map((part) => (part.startsWith('```') ? part : linked(part))).join('');
}

rmSync(PAGES, { recursive: true, force: true });
for (const file of files) {
  const page = pageOf(file);
  if (page === undefined) continue;
  const to = join(PAGES, page);
  mkdirSync(dirname(to), { recursive: true });
  writeFileSync(to, textOf(file));
}
for (const file of files.filter((one) => one.startsWith('docs/') && one.endsWith('.svg'))) {
  const to = join(PAGES, relative('docs', file));
  mkdirSync(dirname(to), { recursive: true });
  cpSync(join(ROOT, file), to);
}
writeFileSync(join(PAGES, 'index.md'), readFileSync(join(HERE, 'home.md'), 'utf8'));
execFileSync(
  process.execPath,
  [join(HERE, 'node_modules/typedoc/bin/typedoc'), '--options', join(HERE, 'typedoc.json')],
  {
    cwd: HERE,
    stdio: 'inherit',
  },
);
