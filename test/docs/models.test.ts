/** Who copies an example starts a run: a model that documents and help name is one that a worker knows. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { resolveRoute } from '../../providers/routes.js';

const ROOT = join(__dirname, '..', '..');
const FOLDERS = ['docs', 'examples', 'cli'];
const NAMED = /\b(?:anthropic|openai|openai-responses)\/(?!v\d\b)[a-z]+[a-z0-9.-]*\d\b/g;

const files = [
  'README.md',
  ...FOLDERS.flatMap((folder) =>
    readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
      .filter((name) => /\.(?:md|ts)$/.test(name) && !name.includes('node_modules'))
      .map((name) => join(folder, name)),
  ),
];

test('each model that an example names is known', () => {
  const named = files.flatMap((file) =>
    [...readFileSync(join(ROOT, file), 'utf8').matchAll(NAMED)].map(([model]) => ({ file, model })),
  );
  expect(named.length).toBeGreaterThan(5);
  expect(named.filter(({ model }) => !isKnown(model))).toEqual([]);
});

function isKnown(model: string): boolean {
  try {
    resolveRoute(model);
    return true;
  } catch {
    return false;
  }
}
