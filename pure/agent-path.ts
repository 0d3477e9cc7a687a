/** The agents from the root of a tree of runs to one of them, in one line. */
export function agentPathText(path: readonly string[]): string {
  return path.join(' › ');
}
