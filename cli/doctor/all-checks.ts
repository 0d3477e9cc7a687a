/** Everything that doctor looks at, in the order in which it is told. */
import type { Environment } from '../../worker/config.js';
import type { Session } from '../session.js';
import { guarded, type Check } from './check.js';
import { checkConnection } from './connection.js';
import { checkConfiguration } from './configuration.js';
import { checkToolQueues } from './tool-queues.js';
import { checkHome, checkLeftBehind, checkNode } from './machine.js';
import { checkServed } from './served.js';
import { checkServer } from './server.js';
import { checkStore } from './store.js';

export interface Premises {
  readonly place: Environment;
  readonly folder: string;
  /** Somebody named a server, so none is started here. */
  readonly addressGiven: boolean;
  /** The key of the desk that would be started here, if there is one. */
  readonly keyFile: string;
}

export async function allChecks(
  session: Pick<Session, 'clientWithoutStore' | 'place' | 'named'>,
  { place, folder, addressGiven, keyFile }: Premises,
): Promise<readonly Check[]> {
  const server = await checkServer(session, addressGiven);
  // The key is the worker's: when one runs, it may well have what this shell has not.
  const { namespace } = await session.named().catch(() => place);
  const served = server.some(({ name, status }) => name === 'workers' && status === 'ok');
  return [
    ...checkNode(),
    ...(await guarded({ name: 'data folder', look: () => checkHome(place) })),
    ...(await guarded({
      name: 'store',
      needing: ['notifications', 'archive', 'growing runs', 'desk key'],
      look: () => checkStore(place, keyFile),
    })),
    ...(await guarded({
      name: 'configuration',
      needing: ['model key'],
      look: () => checkConfiguration({ place, namespace, folder, served }),
    })),
    ...(await checkConnection(session)),
    ...server,
    ...(await guarded({
      name: 'tool queues',
      look: () => checkToolQueues(session, { place, folder }),
    })),
    ...(await guarded({ name: 'served code', look: () => checkServed({ ...session, place }) })),
    ...(await guarded({ name: 'left behind', look: () => checkLeftBehind(place) })),
  ];
}
