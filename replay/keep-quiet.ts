/** Keeps the SDK from reporting every replay on standard error, and from taking the signals of the process. */
import { IllegalStateError } from '@temporalio/common';
import { DefaultLogger, Runtime } from '@temporalio/worker';

/** Before anything else of the SDK: its runtime is one per process, and the first connection makes it. */
export function keepQuiet(): void {
  try {
    Runtime.install({
      logger: new DefaultLogger('ERROR'),
      telemetryOptions: { logging: { forward: {}, filter: 'ERROR' } },
      // The SDK would end its replayers at Ctrl-C: the command went on, and their histories were said to break them.
      shutdownSignals: [],
    });
  } catch (error) {
    // Whoever embeds this has made one already, and keeps it.
    if (!(error instanceof IllegalStateError)) throw error;
  }
}
