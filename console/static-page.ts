/**
 * The page's files, read once when the console starts: what is asked for later is looked up, never opened, so
 * no path leads anywhere else.
 * The page is a folder of static files with an `index.html`; every path that is none of its files, and below
 * one of its VIEWS or without an extension, is that one, so that a link into the page works. It reaches the API on the same origin, with the token in the header
 * Authorization, which it takes from `#token=…` of its address or asks for.
 */
import { readdir, readFile } from 'node:fs/promises';
import { extname, join } from 'node:path';

const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.png': 'image/png',
  '.ico': 'image/x-icon',
  '.json': 'application/json',
  '.woff2': 'font/woff2',
};
/** Ids follow them, and may look like names of files. */
const VIEWS = ['/approvals/', '/questions/', '/inbox/', '/runs/'];
const FILES_MAX = 200;
const FILE_BYTES_MAX = 4 * 1024 * 1024;

export type StaticPage = (path: string) => Response | undefined;

/** An empty page when the folder is not there. */
export async function readPage(folder: string): Promise<StaticPage> {
  const files = new Map<
    string,
    { readonly bytes: Uint8Array<ArrayBuffer>; readonly type: string }
  >();
  const entries = await readdir(folder, { recursive: true, withFileTypes: true }).catch(() => []);
  for (const entry of entries.filter((one) => one.isFile()).slice(0, FILES_MAX)) {
    const type = TYPES[extname(entry.name)];
    const file = join(entry.parentPath, entry.name);
    if (type === undefined) continue;
    const bytes = new Uint8Array(await readFile(file));
    const path = file.slice(folder.length).replaceAll('\\', '/');
    if (bytes.byteLength <= FILE_BYTES_MAX) files.set(path, { bytes, type });
  }
  return (path) => {
    const isView = extname(path) === '' || VIEWS.some((view) => path.startsWith(view));
    const found = files.get(path) ?? (isView ? files.get('/index.html') : undefined);
    if (found === undefined) return undefined;
    const headers = { 'content-type': found.type, 'cache-control': 'no-cache' };
    return new Response(found.bytes, { headers });
  };
}
