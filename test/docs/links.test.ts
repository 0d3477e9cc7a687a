/** Links between documents, and documents that are named in code, exist: in a checkout and in the package. */
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';

const ROOT = join(__dirname, '..', '..');
const FILES = execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard'], {
  cwd: ROOT,
  encoding: 'utf8',
})
  .split('\n')
  .filter((file) => file !== '' && existsSync(join(ROOT, file)));

const textOf = (file: string): string => readFileSync(join(ROOT, file), 'utf8');

interface Link {
  readonly from: string;
  readonly to: string;
  readonly anchor: string | undefined;
}

/** Relative links of a document; what stands in a block of code is none. */
function linksOf(file: string): readonly Link[] {
  const prose = textOf(file).replace(/^```[\s\S]*?^```/gm, '');
  return [...prose.matchAll(/\]\((?!https?:|mailto:)([^)\s#]*)(?:#([^)\s]*))?\)/g)].map(
    ([, path = '', anchor]) => ({
      from: file,
      to: path === '' ? file : normalize(join(dirname(file), path)).replace(/\/$/, ''),
      anchor,
    }),
  );
}

/** Names of the headings of a document, as they are linked to. */
function anchorsOf(file: string): readonly string[] {
  return [...textOf(file).matchAll(/^#+ (.*)$|<a id="([^"]*)">/gm)].map(
    ([, heading, id]) =>
      id ??
      (heading ?? '')
        .toLowerCase()
        .replace(/[^\p{L}\p{N} _-]/gu, '')
        .replaceAll(' ', '-'),
  );
}

const DOCUMENTS = FILES.filter((file) => file.endsWith('.md'));
const LINKS = DOCUMENTS.flatMap(linksOf);
const PACKAGE = JSON.parse(textOf('package.json')) as { readonly files: readonly string[] };

/** As npm packs: the last pattern that fits decides. Of folders and globs only what `files` uses. */
function isPacked(path: string): boolean {
  if (['README.md', 'LICENSE', 'package.json'].includes(path)) return true;
  return PACKAGE.files.reduce((packed, pattern) => {
    const kept = !pattern.startsWith('!');
    return fits(path, kept ? pattern : pattern.slice(1)) ? kept : packed;
  }, false);
}

function fits(path: string, pattern: string): boolean {
  const words = pattern.split('/**/').map((part) =>
    part
      .split('*')
      .map((word) => word.replace(/[.]/g, '\\.'))
      .join('[^/]*'),
  );
  return new RegExp(`^${words.join('/(?:.*/)?')}(?:/.*)?$`).test(path);
}

test('there are documents, links and packed documents to look at', () => {
  expect(LINKS.length).toBeGreaterThan(30);
  expect(isPacked('docs/guide/query.md')).toBe(true);
  expect(isPacked('docs/progress.md')).toBe(false);
});

test('every relative link leads to a file or folder', () => {
  expect(LINKS.filter(({ to }) => !existsSync(join(ROOT, to)))).toEqual([]);
});

test('every link to a part of a document leads to a heading of it', () => {
  const lost = LINKS.filter(
    ({ to, anchor }) => anchor !== undefined && !anchorsOf(to).includes(anchor),
  );
  expect(lost).toEqual([]);
});

test('documents of the package link to what the package has', () => {
  const lost = LINKS.filter(
    ({ from, to }) =>
      isPacked(from) &&
      !isPacked(to) &&
      !FILES.some((one) => one.startsWith(`${to}/`) && isPacked(one)),
  );
  expect(lost).toEqual([]);
});

test('every document that code, settings or prose names exists', () => {
  const lost = FILES.filter((file) => !/^histories\/|^test\/replay\/histories\/|lock/.test(file))
    .filter((file) => /\.(?:[cm]?[jt]sx?|json|md|yaml|yml)$|^\.ci\//.test(file))
    .flatMap((file) =>
      [...textOf(file).matchAll(/(?<![\w/.-])docs\/[\w/-]+\.(?:md|ts|js)\b/g)].map(([path]) => ({
        file,
        path,
      })),
    )
    .filter(({ path }) => !existsSync(join(ROOT, path.replace(/\.js$/, '.ts'))));
  expect(lost).toEqual([]);
});

test('a document that a user of the package is sent to is in the package', () => {
  const lost = FILES.filter((file) =>
    /^(?:authoring|activities|cli|client|connection|connectors|console|core|devserver|evaluation|http|providers|pure|recording|replay|sandbox|store|testing|worker|workflows)\//.test(
      file,
    ),
  )
    .flatMap((file) =>
      [...textOf(file).matchAll(/(?<![\w/.-])docs\/[\w/-]+\.md\b/g)].map(([path]) => ({
        file,
        path,
      })),
    )
    .filter(({ path }) => !isPacked(path));
  expect(lost).toEqual([]);
});
