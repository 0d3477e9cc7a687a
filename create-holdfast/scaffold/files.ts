/** The files of a new project: templates with their words filled in. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join, relative, sep } from 'node:path';
import { packageJson, wordsOf, type Project } from './project.js';

export interface ProjectFile {
  /** From the project's folder, with `/`. */
  readonly path: string;
  readonly content: string;
}

/** Beside this folder: the sources, and in packages one file with all of them, `{path: content}`. */
const SOURCES = join(__dirname, '..', 'templates');
const PACKED = join(__dirname, '..', 'templates.json');

/** Under their own names these would count where the templates lie. */
const RENAMED: Readonly<Record<string, string>> = {
  _gitignore: '.gitignore',
  _dockerignore: '.dockerignore',
  'tsconfig.json.txt': 'tsconfig.json',
};

/** Only of a new Temporal project: one that exists has its own. */
const OF_NEW_PROJECTS: ReadonlySet<string> = new Set([
  'src/workflows.ts',
  'src/activities.ts',
  'src/worker.ts',
  'src/start.ts',
]);

/** What a project that exists has its own of, by whatever name the template's has. */
const OF_ANY_PROJECT: ReadonlySet<string> = new Set([
  'package.json',
  'tsconfig.json',
  'README.md',
  '.gitignore',
  '.dockerignore',
  'Dockerfile',
]);

/** In the order of their paths. */
export function filesOf(project: Project): readonly ProjectFile[] {
  const words = wordsOf(project);
  const found = ['common', project.template].flatMap((folder) =>
    templateOf(folder).map(({ path, content }) => ({
      path: RENAMED[path] ?? path,
      content: filled(content, words),
    })),
  );
  const files = [...found, { path: 'package.json', content: packageJson(project) }];
  return files.toSorted((a, b) => (a.path < b.path ? -1 : 1));
}

/** The same for a project that exists: what it brings itself is left out. */
export function addedFilesOf(project: Project): readonly ProjectFile[] {
  return filesOf(project).filter(
    ({ path }) => !OF_ANY_PROJECT.has(path) && !OF_NEW_PROJECTS.has(path),
  );
}

function templateOf(folder: string): readonly ProjectFile[] {
  if (!existsSync(PACKED)) return textsIn(join(SOURCES, folder));
  const packed = JSON.parse(readFileSync(PACKED, 'utf8')) as Readonly<Record<string, string>>;
  return Object.entries(packed)
    .filter(([path]) => path.startsWith(`${folder}/`))
    .map(([path, content]) => ({ path: path.slice(folder.length + 1), content }));
}

function textsIn(folder: string): readonly ProjectFile[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true, encoding: 'utf8' })
    .filter((entry) => entry.isFile())
    .map(({ name, parentPath }) => {
      const file = join(parentPath, name);
      const path = relative(folder, file).split(sep).join('/');
      return { path, content: readFileSync(file, 'utf8') };
    });
}

function filled(text: string, words: Readonly<Record<string, string>>): string {
  return Object.entries(words).reduce((done, [word, value]) => done.replaceAll(word, value), text);
}
