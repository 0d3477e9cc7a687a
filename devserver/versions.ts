import { runCommand } from './run-command.js';
import type { Environment } from './environment.js';
import { CLI_VERSION_MIN, SERVER_VERSION_MIN } from './pins.js';

/** What `temporal --version` says. */
export interface Versions {
  readonly cli: string;
  readonly server: string;
}

/** A binary's versions, or why it cannot be used. */
export type VersionCheck =
  | { readonly ok: true; readonly versions: Versions }
  | { readonly ok: false; readonly reason: string };

const VERSION_TIMEOUT_MS = 10_000;
/** What a CLI built without a version text says; then the server's version alone decides. */
const UNVERSIONED_CLI = '0.0.0-DEV';

/** Reads `temporal version 1.8.2 (Server 1.31.2, UI 2.50.1)`. */
export function parseVersions(text: string): Versions | undefined {
  const match = /temporal version (\S+) \(Server ([^\s,)]+)/.exec(text);
  if (match?.[1] === undefined || match[2] === undefined) return undefined;
  return { cli: match[1], server: match[2] };
}

/** Compares the numbers of two versions; a pre-release counts as its release. */
export function isAtLeast(version: string, minimum: string): boolean {
  const numbers = (text: string): readonly number[] =>
    (text.split('-')[0] ?? '').split('.').map((part) => Number.parseInt(part, 10) || 0);
  const have = numbers(version);
  const want = numbers(minimum);
  for (const [index, wanted] of want.entries()) {
    const had = have[index] ?? 0;
    if (had !== wanted) return had > wanted;
  }
  return true;
}

/** Runs `--version` and decides whether Holdfast works with the binary. */
export async function checkVersions(file: string, environment: Environment): Promise<VersionCheck> {
  const result = await runCommand({
    file,
    args: ['--version'],
    environment,
    timeoutMs: VERSION_TIMEOUT_MS,
  });
  if (!result.ok) return { ok: false, reason: `${file} --version failed: ${result.failure}` };
  const versions = parseVersions(result.output);
  if (versions === undefined) {
    return { ok: false, reason: `${file} does not print a Temporal version` };
  }
  if (versions.cli !== UNVERSIONED_CLI && !isAtLeast(versions.cli, CLI_VERSION_MIN)) {
    return {
      ok: false,
      reason: `${file} is CLI ${versions.cli}, older than ${CLI_VERSION_MIN}`,
    };
  }
  if (!isAtLeast(versions.server, SERVER_VERSION_MIN)) {
    return {
      ok: false,
      reason: `${file} holds server ${versions.server}, older than ${SERVER_VERSION_MIN}`,
    };
  }
  return { ok: true, versions };
}
