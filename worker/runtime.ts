/** The native part of Temporal's SDK: one in a process, with its log and its metrics. */
import { IllegalStateError } from '@temporalio/common';
import { DefaultLogger, Runtime } from '@temporalio/worker';
import { HoldfastError } from '../core/state/errors.js';

let isInstalled = false;
let metricsAt: string | undefined;

export interface RuntimeSettings {
  readonly logLevel?: 'DEBUG' | 'INFO' | 'WARN' | 'ERROR';
  readonly metricsAddress?: string;
}

/** The first worker decides how much is logged and where metrics are. Errors: PortTaken, InvalidConfig. */
export function installRuntime({ logLevel = 'ERROR', metricsAddress }: RuntimeSettings): void {
  if (!isInstalled) {
    const metrics = metricsAddress && { prometheus: { bindAddress: metricsAddress } };
    try {
      Runtime.install({
        logger: new DefaultLogger(logLevel),
        telemetryOptions: {
          logging: { forward: {}, filter: logLevel },
          ...(metrics && { metrics }),
        },
      });
      metricsAt = metricsAddress;
    } catch (error) {
      // Whoever embeds this worker has made one already, and keeps it.
      if (!(error instanceof IllegalStateError))
        throw metricsAddress === undefined ? error : notListening(metricsAddress, error);
    }
    isInstalled = true;
  }
  if (metricsAddress === undefined || metricsAddress === metricsAt) return;
  throw new HoldfastError(
    'InvalidConfig',
    `The runtime of Temporal in this process has no metrics at ${metricsAddress}.`,
    { hint: 'Give metricsAddress to the first worker of the process.' },
  );
}

function notListening(address: string, error: unknown): HoldfastError {
  const isTaken = /address already in use/i.test(String(error));
  const options =
    '--metrics-address or HOLDFAST_METRICS_ADDRESS, in code metricsAddress of startWorker';
  return listenFailure(address, { isTaken, options, cause: error });
}

/** In the words of the desk. */
export function listenFailure(
  address: string,
  {
    isTaken,
    options,
    cause,
  }: { readonly isTaken: boolean; readonly options: string; readonly cause: unknown },
): HoldfastError {
  return new HoldfastError(
    isTaken ? 'PortTaken' : 'InvalidConfig',
    isTaken
      ? `Port ${address.replace(/.*:/, '')} is taken.`
      : `The worker cannot listen on ${address}.`,
    { hint: `Choose another one: ${options}.`, cause },
  );
}
