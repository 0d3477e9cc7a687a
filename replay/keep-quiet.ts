/** Keeps the SDK from reporting every replay on standard error. */
import { IllegalStateError } from '@temporalio/common';
import { DefaultLogger, Runtime } from '@temporalio/worker';

/** Before anything else of the SDK: its runtime is one per process, and the first connection makes it. */
export function keepQuiet(): void {
  try {
    Runtime.install({
      logger: new DefaultLogger('ERROR'),
      telemetryOptions: { logging: { forward: {}, filter: 'ERROR' } },
    });
  } catch (error) {
    // Whoever embeds this has made one already, and keeps it.
    if (!(error instanceof IllegalStateError)) throw error;
  }
}
