import { setTimeout as sleep } from 'node:timers/promises';
import type { Environment } from './environment.js';
import { NAMESPACE, NAMESPACE_RETENTION, SEARCH_ATTRIBUTES } from './pins.js';
import { answersAt } from './ports.js';
import { lastLines, runCommand } from './run-command.js';

export interface ReadinessRequest {
  readonly binary: string;
  readonly environment: Environment;
  readonly address: string;
  readonly limitMs: number;
  /** Whether the server has ended; then waiting is in vain. */
  readonly ended: () => boolean;
}

const POLL_MS = 10;
const COMMAND_TIMEOUT_MS = 5000;

/**
 * Waits until the server takes connections, then gives its namespace the retention and search
 * attributes of Holdfast. Both are repeated on every start, for databases of an earlier Holdfast,
 * and their success is the proof that the namespace is usable. Throws a plain Error with the reason.
 */
export async function waitUntilReady(request: ReadinessRequest): Promise<void> {
  const deadline = performance.now() + request.limitMs;
  let reason = 'its port is closed';
  while (performance.now() < deadline) {
    if (request.ended()) throw new Error('it ended');
    if (await answersAt(request.address, POLL_MS * 10)) {
      const failure = await prepareNamespace(request);
      if (failure === undefined) return;
      reason = failure;
    }
    await sleep(POLL_MS);
  }
  throw new Error(`after ${request.limitMs} ms ${reason}`);
}

async function prepareNamespace(request: ReadinessRequest): Promise<string | undefined> {
  const attributes = Object.entries(SEARCH_ATTRIBUTES).flatMap(([name, type]) => [
    '--name',
    name,
    '--type',
    type,
  ]);
  const results = await Promise.all([
    operate(request, ['namespace', 'update', '--retention', NAMESPACE_RETENTION]),
    operate(request, ['search-attribute', 'create', ...attributes]),
  ]);
  return results.find((failure) => failure !== undefined);
}

/** Runs one `temporal operator` command; the user's own client settings must not lead it elsewhere. */
async function operate(
  request: ReadinessRequest,
  args: readonly string[],
): Promise<string | undefined> {
  const result = await runCommand({
    file: request.binary,
    args: [
      'operator',
      ...args,
      '--namespace',
      NAMESPACE,
      '--address',
      request.address,
      '--disable-config-env',
      '--disable-config-file',
    ],
    environment: request.environment,
    timeoutMs: COMMAND_TIMEOUT_MS,
  });
  if (result.ok) return undefined;
  return `\`operator ${args[0]} ${args[1]}\` failed: ${lastLines(result.output)}`;
}
