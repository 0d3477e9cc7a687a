/**
 * The Holdfast worker of the demo as a process of its own, so that it can be killed. It does what
 * `npx holdfast worker` does; besides, it says on one JSON line that it is ready, and it stops when its
 * parent is gone.
 */
import { runWorkerProcess } from '../../worker/index.js';
import config from './holdfast.config.js';

process.stdin.once('end', stop).once('error', stop).resume();

runWorkerProcess({
  config,
  say: (line) => process.stdout.write(`${JSON.stringify({ line })}\n`),
})
  .then(() => process.exit(0))
  .catch((error: unknown) => {
    const { message, hint } = error as { readonly message?: string; readonly hint?: string };
    process.stderr.write(`${message ?? String(error)}${hint === undefined ? '' : `\n${hint}`}\n`);
    process.exit(1);
  });

/** The SDK drains the worker on SIGTERM. */
function stop(): void {
  process.kill(process.pid, 'SIGTERM');
}
