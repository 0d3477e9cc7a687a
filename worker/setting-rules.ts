/** The settings of a worker: a closed list, since a typing error would serve something else without a word. */
import { isConfig } from '../authoring/index.js';
import { ADDRESS_RULE, LISTEN_RULE, REACH_RULES } from '../connection/reach-rules.js';
import {
  AMOUNT,
  CALLBACK,
  COUNT,
  each,
  FIELDS,
  FLAG,
  LIST,
  needed,
  oneOf,
  TEXT,
} from '../pure/options.js';

export const SETTING_RULES = {
  address: needed(ADDRESS_RULE),
  ...each(needed(TEXT), 'namespace taskQueue storePlace'),
  storeSync: oneOf('each', 'shared'),
  config: needed({ is: 'what defineConfig gives', fits: isConfig }),
  providers: needed({
    is: 'a Map of providers by name',
    fits: (value) =>
      ['get', 'has'].every(
        (name) => typeof (value as Record<string, unknown> | null)?.[name] === 'function',
      ),
  }),
  ...REACH_RULES,
  ...each(COUNT, 'decisionsAtOnce activitiesAtOnce workflowPollers activityPollers'),
  ...each(AMOUNT, 'maxCachedWorkflows activitiesPerSecond queueActivitiesPerSecond'),
  ...each(AMOUNT, 'shutdownGraceMs stickyTimeoutMs sweepEveryMs connectAttemptsMax'),
  serves: oneOf('workflows', 'activities'),
  metricsAddress: LISTEN_RULE,
  logLevel: oneOf('DEBUG', 'INFO', 'WARN', 'ERROR'),
  ...each(FLAG, 'readsWithinTasks stackTraces'),
  sandboxQueue: TEXT,
  ...each(FIELDS, 'isolation release'),
  ...each(CALLBACK, 'activities say'),
  ...each(LIST, 'payloadCodecs workflowInterceptors'),
};
