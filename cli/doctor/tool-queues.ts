/** Task queues that tools name: somebody must work on each. */
import { queuesOf, sandboxQueueOf, sandboxTools } from '../../authoring/index.js';
import type { Session } from '../session.js';
import type { ConfigurationPlace } from './configuration.js';
import { askedLately } from './asked-lately.js';
import { ok, warning, type Check } from './check.js';

/** Nothing where no tool names a queue, where there is no configuration, or no server to be asked. */
export async function checkToolQueues(
  { clientWithoutStore }: Pick<Session, 'clientWithoutStore'>,
  { place, folder }: Pick<ConfigurationPlace, 'place' | 'folder'>,
): Promise<readonly Check[]> {
  const { findConfig, loadConfig } = await import('../../worker/load-config.js');
  const file = place.configFile ?? findConfig(folder);
  // What is wrong with either is told elsewhere.
  const config = file && (await loadConfig({ folder, file }).catch(() => undefined));
  if (!config) return [];
  const sandboxed = sandboxTools(config.tools.values()).map(({ record }) => record.name);
  const sandbox = sandboxQueueOf(place.taskQueue);
  const queues = [
    ...queuesOf(config.tools.values()),
    ...(sandboxed.length === 0 ? [] : [[sandbox, sandboxed] as const]),
  ];
  if (queues.length === 0) return [];
  const client = await clientWithoutStore().catch(() => undefined);
  if (client === undefined) return [];
  const checks: Check[] = [];
  for (const [queue, tools] of queues) {
    const workers = await client.pollers(queue);
    const names = tools.slice(0, 5).join(', ');
    checks.push(
      workers.length > 0
        ? ok('tool queues', `${queue} (${names}): ${askedLately(workers, Date.now())}`)
        : warning(
            'tool queues',
            `nobody works on ${queue}, where calls of ${names} go`,
            `Calls wait until one is started: holdfast worker --only ${queue === sandbox ? 'sandbox' : `activities --queue ${queue}`}`,
          ),
    );
  }
  return checks;
}
