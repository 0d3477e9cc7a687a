/** Every route of the API. */
import type { Endpoint } from '../http/endpoint.js';
import { aboutEndpoints } from './about.js';
import { askEndpoints } from './asks.js';
import { connectorLoginEndpoints } from './connector-logins.js';
import { connectorEndpoints } from './connectors.js';
import { comparedEndpoints } from './compared.js';
import { controlEndpoints } from './run-words.js';
import { controlsEndpoints } from './controls.js';
import { decisionEndpoints } from './decisions.js';
import { eventEndpoints } from './events.js';
import { forkEndpoints } from './forks.js';
import { goalWordEndpoints } from './goal-words.js';
import { goalEndpoints } from './goals.js';
import { inboxEndpoints } from './inbox.js';
import { runEndpoints } from './runs.js';
import { searchEndpoints } from './search.js';
import { stepEndpoints } from './steps.js';
import { startEndpoints } from './starts.js';
import { treeEndpoints } from './trees.js';

export const ENDPOINTS: readonly Endpoint[] = [
  ...aboutEndpoints,
  ...runEndpoints,
  ...treeEndpoints,
  ...searchEndpoints,
  ...stepEndpoints,
  ...comparedEndpoints,
  ...eventEndpoints,
  ...goalEndpoints,
  ...goalWordEndpoints,
  ...inboxEndpoints,
  ...askEndpoints,
  ...decisionEndpoints,
  ...controlEndpoints,
  ...controlsEndpoints,
  ...startEndpoints,
  ...forkEndpoints,
  ...connectorEndpoints,
  ...connectorLoginEndpoints,
];
