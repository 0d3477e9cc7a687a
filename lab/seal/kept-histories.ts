/**
 * The histories that are kept: one folder for each rules number, one gzipped bundle for each run.
 * Invariants: a MANIFEST only grows; what it lists is there with exactly these bytes, and nothing else is.
 */
import { rulesOfCode } from '../../core/step/code-id.js';
import { rulesOf } from '../../replay/versions.js';
import { createHash } from 'node:crypto';
import {
  appendFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  writeFileSync,
} from 'node:fs';
import { basename, join } from 'node:path';
import { gunzipSync, gzipSync } from 'node:zlib';
import { bundleText, type Bundle } from '../../replay/bundle.js';
import { parseBundle } from '../../replay/read-bundle.js';

export const ROOT = join(__dirname, '..', '..');
export const HISTORIES = join(ROOT, 'histories');
const MANIFEST = 'MANIFEST';
const SUFFIX = '.json.gz';
/** Nobody writes files of this size by hand; a bundle that needs more is no example. */
const BYTES_MAX = 80_000;

export interface KeptHistory {
  readonly rules: number;
  /** Relative to `histories/`. */
  readonly file: string;
}

/** Lines of MANIFESTs: `<sha256>  <file>`, as `sha256sum` writes them. */
export type ManifestLine = string;

/** Of its newest segment; a run that was refused before it was opened follows those of the code that refused it. */
export function rulesOfBundle({ segments, versions }: Bundle): number | undefined {
  return rulesOf(segments.at(-1)!.events) ?? rulesOfCode(versions.code.at(-1));
}

export function rulesFolders(): readonly number[] {
  return readdirSync(HISTORIES)
    .flatMap((name) => /^rules-(\d+)$/.exec(name)?.[1] ?? [])
    .map(Number)
    .toSorted((a, b) => a - b);
}

export function manifestPath(rules: number): string {
  return join('histories', `rules-${rules}`, MANIFEST);
}

export function manifestOf(rules: number): readonly ManifestLine[] {
  const path = join(ROOT, manifestPath(rules));
  return existsSync(path) ? linesOf(readFileSync(path, 'utf8')) : [];
}

export function linesOf(text: string): readonly ManifestLine[] {
  return text.split('\n').filter((line) => line !== '');
}

export function keptHistories(): readonly KeptHistory[] {
  return rulesFolders().flatMap((rules) =>
    manifestOf(rules).map((line) => ({ rules, file: join(`rules-${rules}`, line.slice(66)) })),
  );
}

export function readKept({ file }: KeptHistory): Bundle {
  return parseBundle(gunzipSync(readFileSync(join(HISTORIES, file))).toString('utf8'), file);
}

/** The name under which a history was kept. */
export function nameOf(file: string): string {
  return basename(file, SUFFIX);
}

/** Adds a bundle; false when it is too large to be kept. A file that is there stays. */
export function keep(rules: number, name: string, bundle: Bundle): boolean {
  const folder = join(HISTORIES, `rules-${rules}`);
  const file = `${name}${SUFFIX}`;
  if (existsSync(join(folder, file))) throw new Error(`${file} is kept already.`);
  const bytes = gzipSync(bundleText(withoutStacks(bundle)), { level: 9 });
  if (bytes.length > BYTES_MAX) return false;
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, file), bytes, { flag: 'wx' });
  appendFileSync(join(folder, MANIFEST), `${sha256(bytes)}  ${file}\n`);
  return true;
}

/** Stack traces name the folders of a machine, and no replay looks at them. */
function withoutStacks(bundle: Bundle): Bundle {
  const text = JSON.stringify(bundle, (key, value: unknown) => (key === 'stackTrace' ? '' : value));
  return JSON.parse(text) as Bundle;
}

/** What is wrong between the folders and their MANIFESTs. */
export function manifestFaults(): readonly string[] {
  return rulesFolders().flatMap((rules) => {
    const folder = join(HISTORIES, `rules-${rules}`);
    const lines = manifestOf(rules);
    const listed = new Set(lines.map((line) => line.slice(66)));
    const unlisted = readdirSync(folder).filter((file) => file !== MANIFEST && !listed.has(file));
    return [
      ...lines.flatMap((line) => lineFault(folder, line)),
      ...unlisted.map((file) => `${join(folder, file)} stands in no MANIFEST`),
    ];
  });
}

function lineFault(folder: string, line: ManifestLine): readonly string[] {
  const path = join(folder, line.slice(66));
  if (!existsSync(path)) return [`${path} is gone`];
  return sha256(readFileSync(path)) === line.slice(0, 64) ? [] : [`${path} was changed`];
}

function sha256(bytes: Buffer): string {
  return createHash('sha256').update(bytes).digest('hex');
}
