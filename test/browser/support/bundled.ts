/** A part of the page by itself, for tests of what no whole page can be brought to do. */
import { join } from 'node:path';
import { buildSync } from 'esbuild';

const PAGE = join(__dirname, '..', '..', '..', 'console', 'page');

/** An expression whose value is what this module exports; its imports are named as from the page's folder. */
export function bundled(module: string): string {
  const { outputFiles } = buildSync({
    stdin: { contents: module, resolveDir: PAGE, loader: 'tsx' },
    bundle: true,
    write: false,
    format: 'iife',
    globalName: 'part',
    jsx: 'automatic',
    jsxImportSource: 'preact',
  });
  return `(() => { ${outputFiles[0]?.text ?? ''}; return part; })()`;
}
