import { createWriteStream } from 'node:fs';
import { join } from 'node:path';
import { Readable, Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { ReadableStream } from 'node:stream/web';
import { executableName, type Environment, type Machine } from './environment.js';
import { CLI_VERSION } from './pins.js';
import { reportStep, type OnProgress, type StepReport } from './progress.js';
import { lastLines, runCommand } from './run-command.js';

const RELEASES_URL = 'https://github.com/temporalio/cli/releases/download';
/** Without internet the first answer never comes; this long is worth waiting for it. */
const ANSWER_TIMEOUT_MS = 5000;
const DOWNLOAD_TIMEOUT_MS = 300_000;
const UNPACK_TIMEOUT_MS = 60_000;
const MEGABYTE = 1_000_000;

export interface DownloadRequest {
  readonly machine: Machine;
  readonly environment: Environment;
  /** Folder that receives the binary and the archive. */
  readonly workFolder: string;
  /** Where releases lie; a mirror may be given. */
  readonly releasesUrl?: string;
  readonly onProgress?: OnProgress;
}

/** Downloads and unpacks the pinned CLI's official release archive; throws a plain Error with the reason. */
export async function downloadCli(request: DownloadRequest): Promise<void> {
  const url = archiveUrl(request.machine, request.releasesUrl ?? RELEASES_URL);
  const archive = join(request.workFolder, 'archive.tar.gz');
  const report = reportStep('download', `Downloading ${url}`, request.onProgress);
  try {
    await fetchTo(url, archive, report);
    report.say('Unpacking the archive');
    await unpack(request, archive);
  } finally {
    report.stop();
  }
}

function archiveUrl(machine: Machine, releasesUrl: string): string {
  const systems: Partial<Record<NodeJS.Platform, string>> = {
    linux: 'linux',
    darwin: 'darwin',
    win32: 'windows',
  };
  const processors: Readonly<Record<string, string>> = { x64: 'amd64', arm64: 'arm64' };
  const system = systems[machine.platform];
  const processor = processors[machine.arch];
  if (system === undefined || processor === undefined) {
    throw new Error(`there is no release for ${machine.platform}-${machine.arch}`);
  }
  return `${releasesUrl}/v${CLI_VERSION}/temporal_cli_${CLI_VERSION}_${system}_${processor}.tar.gz`;
}

async function fetchTo(url: string, file: string, report: StepReport): Promise<void> {
  const abort = new AbortController();
  const give = (reason: string, ms: number): NodeJS.Timeout =>
    setTimeout(() => abort.abort(new Error(reason)), ms);
  const answer = give(`no answer from ${url} within ${ANSWER_TIMEOUT_MS} ms`, ANSWER_TIMEOUT_MS);
  const total = give(`${url} took longer than ${DOWNLOAD_TIMEOUT_MS} ms`, DOWNLOAD_TIMEOUT_MS);
  try {
    const response = await fetch(url, { signal: abort.signal });
    clearTimeout(answer);
    if (!response.ok || response.body === null) {
      throw new Error(`${url} answered ${response.status}`);
    }
    const size = Number(response.headers.get('content-length') ?? 0);
    // The type of fetch's stream is the browser's; it is Node's at run time.
    const body = Readable.fromWeb(response.body as ReadableStream<Uint8Array>);
    await pipeline(body, countBytes(size, report), createWriteStream(file), {
      signal: abort.signal,
    });
  } catch (error) {
    throw new Error(fetchFailure(url, error, abort.signal), { cause: error });
  } finally {
    clearTimeout(answer);
    clearTimeout(total);
  }
}

function countBytes(size: number, report: StepReport): Transform {
  let received = 0;
  return new Transform({
    transform(chunk: Buffer, _encoding, done) {
      received += chunk.length;
      const of = size > 0 ? ` of ${Math.round(size / MEGABYTE)}` : '';
      report.say(`Downloaded ${Math.round(received / MEGABYTE)}${of} MB`);
      done(null, chunk);
    },
  });
}

/** fetch says only "fetch failed"; its cause knows why. */
function fetchFailure(url: string, error: unknown, signal: AbortSignal): string {
  if (signal.aborted && signal.reason instanceof Error) return signal.reason.message;
  const { message, cause } = error as { readonly message?: string; readonly cause?: unknown };
  if (typeof cause !== 'object' || cause === null) return message ?? `${url} cannot be fetched`;
  const reason = cause as { readonly message?: string; readonly code?: string };
  return `${url} cannot be reached: ${reason.message || reason.code || message}`;
}

async function unpack(request: DownloadRequest, archive: string): Promise<void> {
  const result = await runCommand({
    file: 'tar',
    args: ['-xzf', archive, '-C', request.workFolder, executableName('temporal', request.machine)],
    environment: request.environment,
    timeoutMs: UNPACK_TIMEOUT_MS,
  });
  if (!result.ok) {
    throw new Error(
      `tar cannot unpack the archive: ${result.failure}: ${lastLines(result.output)}`,
    );
  }
}
