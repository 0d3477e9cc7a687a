/** The native part of Temporal's SDK: one in a process, with its log and its metrics. */
import { IllegalStateError } from '@temporalio/common';
import { DefaultLogger, Runtime } from '@temporalio/worker';
import { HoldfastError } from '../core/state/errors.js';
import { listenFailure } from './listen-failure.js';

let installed: { readonly metricsAddress: string | undefined } | undefined;

const OPTIONS =
  '--metrics-address or HOLDFAST_METRICS_ADDRESS, in code metricsAddress of startWorker';

/** The first worker decides how much is logged and where metrics are. Errors: PortTaken, InvalidConfig. */
export function installRuntime({
  logLevel = 'ERROR',
  metricsAddress,
}: {
  readonly logLevel?: 'DEBUG' | 'INFO' | 'WARN' | 'ERROR';
  readonly metricsAddress?: string;
}): void {
  if (installed === undefined) {
    try {
      Runtime.install({
        logger: new DefaultLogger(logLevel),
        telemetryOptions: {
          logging: { forward: {}, filter: logLevel },
          ...(metricsAddress !== undefined && {
            metrics: { prometheus: { bindAddress: metricsAddress } },
          }),
        },
      });
      installed = { metricsAddress };
    } catch (cause) {
      // Whoever embeds this worker has made one already, and keeps it.
      if (cause instanceof IllegalStateError) installed = { metricsAddress: undefined };
      else if (metricsAddress === undefined) throw cause;
      else throw notListening(metricsAddress, cause);
    }
  }
  if (metricsAddress === undefined || metricsAddress === installed.metricsAddress) return;
  throw new HoldfastError(
    'InvalidConfig',
    `The option metricsAddress cannot be used: this process has Temporal's runtime already, without metrics at ${metricsAddress}.`,
    {
      hint: 'Give metricsAddress to the first worker of the process, or give Runtime.install of @temporalio/worker its metrics.',
    },
  );
}

function notListening(address: string, cause: unknown): HoldfastError {
  const isTaken = cause instanceof Error && /address already in use/i.test(cause.message);
  return listenFailure({ what: 'The metrics', address, options: OPTIONS }, { isTaken, cause });
}
