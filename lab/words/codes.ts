/** Codes of the specification: where they are explained, and where they are cited. */
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** In the order in which the specification is read. */
export const TOPICS = [
  'turns',
  'completion',
  'tools',
  'dataflow',
  'approvals',
  'budgets',
  'context',
  'providers',
  'sessions',
  'agents',
  'goals',
] as const;
export type Topic = (typeof TOPICS)[number];

const FOLDER = 'docs/specification';
const CASES = 'test/scenarios';
/** Files that are kept as they were recorded, and files that only repeat. */
const LEFT_OUT = /^(?:histories|test\/replay\/histories|docs\/specification)\//;
/** A name in quotes alone is a value of a test, not a citation. */
const CODE = /(?<![\w%'"])(?:[CG]\d{1,3}|(?:GL|MC|SA|SP|TA)-\d{2})\b|(?<=['"])[CG]\d{1,3}(?=: )/g;

export const fileOf = (topic: Topic): string => `${FOLDER}/${topic}.md`;

/** Files of the checkout, those that are not committed yet included; paths from the root. */
export function filesIn(root: string): readonly string[] {
  const listed = execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard'], {
    cwd: root,
    encoding: 'utf8',
    maxBuffer: 64 * 1024 * 1024,
  });
  return listed.split('\n').filter((file) => file !== '' && existsSync(join(root, file)));
}

/** By code, the topics that have an entry of it. */
export function entriesIn(root: string): ReadonlyMap<string, readonly Topic[]> {
  const found = new Map<string, Topic[]>();
  for (const topic of TOPICS) {
    for (const [, code = ''] of readFileSync(join(root, fileOf(topic)), 'utf8').matchAll(
      /^### (\S+)$/gm,
    )) {
      found.set(code, [...(found.get(code) ?? []), topic]);
    }
  }
  return found;
}

/** By code, the files that cite it: sources, tests, documents, and cases by their name. */
export function citationsIn(root: string): ReadonlyMap<string, readonly string[]> {
  const found = new Map<string, string[]>();
  const note = (code: string, file: string): void => {
    const before = found.get(code) ?? [];
    if (!before.includes(file)) found.set(code, [...before, file]);
  };
  for (const file of filesIn(root)) {
    const [caseOfRule] = /(?<=^test\/scenarios\/rules\/)[CG]\d{1,3}(?=-)/.exec(file) ?? [];
    if (caseOfRule !== undefined) note(caseOfRule, file);
    if (LEFT_OUT.test(file) || !/\.(?:tsx?|cjs|md)$/.test(file)) continue;
    for (const [code] of readFileSync(join(root, file), 'utf8').matchAll(CODE)) note(code, file);
  }
  return found;
}

export interface CaseTitle {
  readonly id: string;
  readonly folder: string;
  readonly title: string;
}

/** Cases of `test/scenarios`, in the order of their folders and numbers. */
export function casesIn(root: string): readonly CaseTitle[] {
  return filesIn(root)
    .filter((file) => file.startsWith(`${CASES}/`) && file.endsWith('.json'))
    .map((file) => {
      const { case_id: id, title } = JSON.parse(readFileSync(join(root, file), 'utf8')) as {
        readonly case_id: string;
        readonly title: string;
      };
      return { id, title, folder: file.split('/')[2] ?? '' };
    })
    .sort(
      (one, other) =>
        one.folder.localeCompare(other.folder) ||
        one.id.localeCompare(other.id, 'en', { numeric: true }),
    );
}

export interface Invariant {
  readonly file: string;
  readonly name: string;
  readonly says: string;
}

/** Numbered invariants at the heads of files: ` *  R1 Texts above …`. */
export function invariantsIn(root: string): readonly Invariant[] {
  return filesIn(root)
    .filter((file) => /\.tsx?$/.test(file) && !file.startsWith('test/'))
    .flatMap((file) => {
      const [head = ''] = /^\/\*\*[\s\S]*?\*\//.exec(readFileSync(join(root, file), 'utf8')) ?? [];
      return [...head.matchAll(/^ \*  ([A-Z]\d+) (.*(?:\n \*   +\S.*)*)/gm)].map(
        ([, name = '', says = '']) => ({ file, name, says: says.replace(/\n \* +/g, ' ') }),
      );
    });
}
