/** The Node that Holdfast needs: `engines` of package.json, which package managers only warn of. */
const NEEDED = [20, 19] as const;

/** What to say and do; undefined: this Node is new enough. `version`: as `process.versions.node` has it. */
export function oldNodeText(version: string): string | undefined {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  const [needed, least] = NEEDED;
  if (major > needed || (major === needed && minor >= least)) return undefined;
  return `Error: Holdfast needs Node ${NEEDED.join('.')} or newer; this is Node ${version}.\nInstall a newer one (https://nodejs.org), open a new terminal, and run npm install again.\n`;
}
