/**
 * The name of workflow code, as each workflow task has it in its history: release, sources, and the newest rules that
 * the code knows. What is decided before a run knows its own rules depends on it (changes.ts).
 */

/** As SemVer writes a build; `sources` is a hash. */
export function codeId(release: string, sources: string, rules: number): string {
  return `holdfast@${release}+${sources}.rules${rules}`;
}

/** The newest rules that the code knows; undefined for code that does not say: it is older than rules 8. */
export function rulesOfCode(id: string | undefined): number | undefined {
  const named = /^holdfast@.+\+[0-9a-z]+\.rules(\d{1,6})$/.exec(id ?? '');
  return named === null ? undefined : Number(named[1]);
}
