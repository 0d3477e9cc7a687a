import { DefaultLogger, Runtime } from '@temporalio/worker';

/** The SDK reports every change of a worker's state unless told otherwise, once per process. */
export function keepQuiet(): void {
  Runtime.install({
    logger: new DefaultLogger('ERROR'),
    telemetryOptions: { logging: { forward: {}, filter: 'ERROR' } },
  });
}
