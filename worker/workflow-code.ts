/**
 * The workflows' code as the SDK wants it: prebuilt beside the compiled sources, or bundled once per process.
 * Invariant: a prebuilt bundle is used only when it was made by this SDK from exactly these sources.
 */
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { extname, join } from 'node:path';
import { bundleWorkflowCode, DefaultLogger, type WorkflowBundleOption } from '@temporalio/worker';
import { z } from 'zod';

const ROOT = join(__dirname, '..');
/** Sources run under tsx and jest, compiled files from dist; both lie in the same layout. */
const EXTENSION = extname(__filename);
const WORKFLOWS_PATH = join(ROOT, 'workflows', `agent-run${EXTENSION}`);
export const PAYLOAD_CONVERTER_PATH = join(ROOT, 'workflows', `payload-converter${EXTENSION}`);
const BUNDLE_PATH = join(ROOT, 'workflows', 'bundle.js');
const STAMP_PATH = join(ROOT, 'workflows', 'bundle.json');
const SOURCE_FOLDERS = ['core', 'workflows'];

const stampSchema = z.object({ sdk: z.string(), sources: z.string() });
type Stamp = z.infer<typeof stampSchema>;

let bundled: Promise<WorkflowBundleOption> | undefined;

/** The workflow bundle; the second worker of a process does not pay for it again. */
export function workflowBundle(
  say: (line: string) => void = () => undefined,
): Promise<WorkflowBundleOption> {
  bundled ??= bundleNow(say);
  return bundled;
}

function bundleNow(say: (line: string) => void): Promise<WorkflowBundleOption> {
  const prebuilt = prebuiltBundle();
  if (prebuilt === 'fresh') return Promise.resolve({ codePath: BUNDLE_PATH });
  if (prebuilt === 'stale') {
    say('The prebuilt workflow bundle is of other sources: bundling anew. Run npm run build.');
  }
  return bundle();
}

/** Whether there is a prebuilt bundle, and whether it is of these sources. */
export function prebuiltBundle(): 'fresh' | 'stale' | 'absent' {
  if (!existsSync(BUNDLE_PATH)) return 'absent';
  return isFresh() ? 'fresh' : 'stale';
}

/** Writes the prebuilt bundle beside the compiled workflows: a build step. */
export async function writeWorkflowBundle(): Promise<string> {
  const { code } = await bundle();
  writeFileSync(BUNDLE_PATH, code);
  writeFileSync(STAMP_PATH, JSON.stringify(currentStamp()));
  return BUNDLE_PATH;
}

function bundle(): Promise<{ readonly code: string }> {
  return bundleWorkflowCode({
    workflowsPath: WORKFLOWS_PATH,
    payloadConverterPath: PAYLOAD_CONVERTER_PATH,
    logger: new DefaultLogger('ERROR'),
  });
}

function isFresh(): boolean {
  if (!existsSync(STAMP_PATH)) return false;
  try {
    const stamp = stampSchema.parse(JSON.parse(readFileSync(STAMP_PATH, 'utf8')));
    const current = currentStamp();
    return stamp.sdk === current.sdk && stamp.sources === current.sources;
  } catch {
    // An unreadable stamp says nothing about its bundle: make a new one.
    return false;
  }
}

function currentStamp(): Stamp {
  const hash = createHash('sha256');
  for (const file of sourceFiles()) hash.update(file).update(readFileSync(join(ROOT, file)));
  return { sdk: sdkVersion(), sources: hash.digest('hex') };
}

function sourceFiles(): readonly string[] {
  return SOURCE_FOLDERS.flatMap((folder) =>
    readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
      .map((file) => join(folder, file))
      .filter((file) => file.endsWith(EXTENSION) && !file.endsWith('.d.ts'))
      .filter((file) => join(ROOT, file) !== BUNDLE_PATH),
  ).sort();
}

function sdkVersion(): string {
  const file = require.resolve('@temporalio/worker/package.json');
  return z.object({ version: z.string() }).parse(JSON.parse(readFileSync(file, 'utf8'))).version;
}
