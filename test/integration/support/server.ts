/** The Temporal server of a world: a namespace in that of all tests, or one of its own that it may kill. */
import { Connection } from '@temporalio/client';
import { randomBytes } from 'node:crypto';
import { NAMESPACE, SEARCH_ATTRIBUTES } from '../../../devserver/pins.js';
import { startTestServer, type TestServer } from '../../../testing/index.js';
import { sharedTemporal } from '../../temporal-server.js';

export interface ServerPlace {
  readonly address: string;
  readonly namespace: string;
}

export interface ServerWanted {
  readonly dynamicConfig?: readonly string[];
  readonly ownServer?: boolean;
}

const RETENTION_S = 30 * 86_400;
/** Temporal's number of the type Keyword. */
const KEYWORD = 2;

export async function serverFor({
  dynamicConfig,
  ownServer = dynamicConfig !== undefined,
}: ServerWanted): Promise<TestServer & ServerPlace> {
  if (!ownServer) return sharedServer();
  const server = await startTestServer({
    environment: process.env,
    ...(dynamicConfig !== undefined && { dynamicConfig }),
  });
  return Object.assign(server, { namespace: NAMESPACE });
}

async function sharedServer(): Promise<TestServer & ServerPlace> {
  const address = sharedTemporal();
  const namespace = `n${randomBytes(8).toString('hex')}`;
  await prepare(address, namespace);
  const refuse = (): never => {
    throw new Error('Other tests use this server, too: start the world with `ownServer: true`.');
  };
  return {
    address,
    namespace,
    get dataDir() {
      return refuse();
    },
    get pid() {
      return refuse();
    },
    kill: async () => refuse(),
    restart: async () => refuse(),
    crash: async () => refuse(),
    stop: async () => undefined,
  };
}

/** As the embedded server prepares its own namespace. */
async function prepare(address: string, namespace: string): Promise<void> {
  const connection = await Connection.connect({ address });
  try {
    const workflowExecutionRetentionPeriod = { seconds: RETENTION_S } as never;
    const { workflowService, operatorService } = connection;
    await workflowService.registerNamespace({ namespace, workflowExecutionRetentionPeriod });
    const searchAttributes = Object.fromEntries(
      Object.keys(SEARCH_ATTRIBUTES).map((name) => [name, KEYWORD]),
    );
    await operatorService.addSearchAttributes({ namespace, searchAttributes });
  } finally {
    await connection.close();
  }
}
