/** The server of a process: what environment and profile name, then the configuration, then the usual. */
import type { PayloadCodec } from '@temporalio/common';
import type { ConnectionSettings } from '../authoring/index.js';
import { credentialsOf, readAccess, type Reach } from '../connection/index.js';

export const DEFAULT_ADDRESS = 'localhost:7233';
export const DEFAULT_NAMESPACE = 'default';

export interface ServerReach extends Reach {
  readonly address: string;
  /** False: nobody has named a server, and the address is the usual one. */
  readonly isNamed: boolean;
  readonly namespace: string;
  readonly payloadCodecs?: readonly PayloadCodec[];
}

export interface ReachPlace {
  readonly variables: Readonly<Record<string, string | undefined>>;
  readonly folder: string;
  readonly settings?: ConnectionSettings | undefined;
}

/** Errors: InvalidConfig. */
export function reachOf({ variables, folder, settings }: ReachPlace): ServerReach {
  const read = () => readAccess({ variables, folder, settings });
  const named = read();
  const credentials = credentialsOf(named);
  const codecs = settings?.payloadCodecs ?? [];
  return {
    address: named.address ?? DEFAULT_ADDRESS,
    isNamed: named.address !== undefined,
    namespace: named.namespace ?? DEFAULT_NAMESPACE,
    ...credentials,
    ...(Object.keys(credentials).length > 0 && { renew: () => credentialsOf(read()) }),
    ...(codecs.length > 0 && { payloadCodecs: codecs }),
  };
}

/** What of it settings of workers and clients take. */
export function withoutName(known: ServerReach): Omit<ServerReach, 'isNamed'> {
  const { isNamed: _, ...reach } = known;
  return reach;
}
