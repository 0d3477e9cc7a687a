/**
 * The Holdfast worker of the demo as a process of its own, so that it can be killed. It does what
 * `npx holdfast worker` does; besides, it loads while the server is still starting and learns the server's
 * place from the first line of its standard input, says on one JSON line that it serves, and stops when its
 * parent is gone.
 */
import { createInterface } from 'node:readline';
import { runWorkerProcess } from '../../worker/index.js';
import { config } from './holdfast.config.js';

interface Place {
  readonly address: string;
  readonly namespace: string;
}

const DEMO_SETTINGS = {
  // What agents do is shown by their events.
  logLevel: 'ERROR',
  // Whoever kills the worker wants to see the next one take over soon.
  stickyTimeoutMs: 2_000,
} as const;

async function main(): Promise<void> {
  const lines = createInterface({ input: process.stdin });
  // Nobody reads what it says: the parent is gone.
  process.stdout.once('error', () => process.exit(1));
  // The SDK drains the worker on SIGTERM.
  lines.once('close', () => process.kill(process.pid, 'SIGTERM'));
  const line = await new Promise<string>((resolve) => lines.once('line', resolve));
  await runWorkerProcess({
    config,
    settings: { ...(JSON.parse(line) as Place), ...DEMO_SETTINGS },
    say: (text) => process.stdout.write(`${JSON.stringify({ text })}\n`),
  });
}

main().then(
  () => process.exit(0),
  (error: unknown) => {
    const { message, hint } = error as { readonly message?: string; readonly hint?: string };
    process.stderr.write(`${message ?? String(error)}${hint === undefined ? '' : `\n${hint}`}\n`);
    process.exit(1);
  },
);
