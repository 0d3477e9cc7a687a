/** The files of a new project: templates with their words filled in. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { packageJson, wordsOf, type Project } from './project.js';

export interface ProjectFile {
  /** From the project's folder, with `/`. */
  readonly path: string;
  readonly content: string;
}

/** Beside this folder in the sources, in `dist` and in the package `create-holdfast`. */
const TEMPLATES_FOLDER = join(__dirname, '..', 'templates');

/** npm leaves files of these names out of packages, so templates have other names. */
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
    textsIn(join(TEMPLATES_FOLDER, folder)).map(({ path, content }) => ({
      path,
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

function textsIn(folder: string): readonly ProjectFile[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true, encoding: 'utf8' })
    .filter((entry) => entry.isFile())
    .map(({ name, parentPath }) => {
      const within = parentPath.slice(folder.length).replaceAll('\\', '/').replace(/^\//, '');
      const shown = RENAMED[name] ?? name;
      return {
        path: within === '' ? shown : `${within}/${shown}`,
        content: readFileSync(join(parentPath, name), 'utf8'),
      };
    });
}

function filled(text: string, words: Readonly<Record<string, string>>): string {
  return Object.entries(words).reduce((done, [word, value]) => done.replaceAll(word, value), text);
}
