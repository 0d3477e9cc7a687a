/**
 * The page's files, read and compressed once when the console starts: what is asked for later is looked up, never
 * opened, so no path leads anywhere else.
 * The page is a folder of static files with an `index.html`; every path that is none of its files, and below
 * one of its VIEWS or without an extension, is that one, so that a link into the page works. The page reaches the API
 * on the same origin, with the token in the header Authorization, which it takes from `#token=…` of its address or
 * asks for.
 */
import { readdir, readFile } from 'node:fs/promises';
import { extname, join } from 'node:path';
import { gzipSync } from 'node:zlib';

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
const VIEWS = ['/approvals/', '/questions/', '/inbox/', '/runs/', '/goals/'];
const FILES_MAX = 200;
const FILE_BYTES_MAX = 4 * 1024 * 1024;

/** Less than this goes into one packet either way. */
const GZIP_BYTES_MIN = 1_024;
const COMPRESSIBLE = new Set(['.html', '.js', '.css', '.svg', '.json']);

/** `accepted`: the request's header Accept-Encoding. */
export type StaticPage = (path: string, accepted?: string) => Response | undefined;

interface PageFile {
  readonly type: string;
  readonly bytes: Uint8Array<ArrayBuffer>;
  /** Absent where it is not smaller. */
  readonly gzipped?: Uint8Array<ArrayBuffer>;
}

/** An empty page when the folder is not there. */
export async function readPage(folder: string): Promise<StaticPage> {
  const files = new Map<string, PageFile>();
  const entries = await readdir(folder, { recursive: true, withFileTypes: true }).catch(() => []);
  for (const entry of entries.filter((one) => one.isFile()).slice(0, FILES_MAX)) {
    const extension = extname(entry.name);
    const type = TYPES[extension];
    const file = join(entry.parentPath, entry.name);
    if (type === undefined) continue;
    const bytes = new Uint8Array(await readFile(file));
    if (bytes.byteLength > FILE_BYTES_MAX) continue;
    const path = file.slice(folder.length).replaceAll('\\', '/');
    const gzipped = COMPRESSIBLE.has(extension) ? smaller(bytes) : undefined;
    files.set(path, { type, bytes, ...(gzipped !== undefined && { gzipped }) });
  }
  return (path, accepted = '') => {
    const isView = extname(path) === '' || VIEWS.some((view) => path.startsWith(view));
    const found = files.get(path) ?? (isView ? files.get('/index.html') : undefined);
    if (found === undefined) return undefined;
    const { type, bytes, gzipped } = found;
    const headers = { 'content-type': type, 'cache-control': 'no-cache', vary: 'accept-encoding' };
    if (gzipped === undefined || !takesGzip(accepted)) return new Response(bytes, { headers });
    return new Response(gzipped, { headers: { ...headers, 'content-encoding': 'gzip' } });
  };
}

function smaller(bytes: Uint8Array<ArrayBuffer>): Uint8Array<ArrayBuffer> | undefined {
  if (bytes.byteLength < GZIP_BYTES_MIN) return undefined;
  const gzipped = new Uint8Array(gzipSync(bytes, { level: 9 }));
  return gzipped.byteLength < bytes.byteLength ? gzipped : undefined;
}

/** `gzip;q=0` refuses it. */
function takesGzip(accepted: string): boolean {
  return accepted
    .toLowerCase()
    .split(',')
    .some((one) => /^\s*gzip\s*(?:;\s*q=(?!0(?:\.0*)?\s*$).*)?$/.test(one));
}
