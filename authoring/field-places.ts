/** Where the fields of definitions belong, for whoever writes one at another place. */
import type { z } from 'zod';
import { DEFAULT_BUDGET } from '../core/state/budget-fields.js';
import { HoldfastError } from '../core/state/errors.js';
import { DEFAULT_SETTINGS } from '../core/state/settings.js';
import { words } from '../pure/options.js';

/** The list, if the definition has these fields and no others. */
export type Whole<Definition, List extends readonly string[]> = [
  Exclude<keyof Definition, List[number]> | Exclude<List[number], keyof Definition>,
] extends [never]
  ? List
  : never;

export const AGENT_FIELDS = words(
  'name version model instructions tools mcp hooks refuseTask handoffTo policy budget settings agents agentLimits supervise sandbox',
);
export const TOOL_FIELDS = words(
  'name version effect idempotency input output description approval answeredBy card limits identity timeoutMs maxResultBytes maxCostMicroUsd concurrencySafe quick kind run sandbox sandboxRun isolated queue sandboxQueue probe onLost required',
);
export const CONFIG_FIELDS = words(
  'agents retiredTools goals checkTools retiredHooks models retiredModels routes endpoints requestOptions scripted unknownModels defaults refuseTask console connection worker mcp',
);

const ANYWHERE: readonly string[] = ['name', 'version'];
const own = (fields: readonly string[]) => fields.filter((field) => !ANYWHERE.includes(field));

/** By place. Names that stand anywhere (`name`, `version`) are left out. */
export const FIELD_PLACES: Readonly<Record<string, readonly string[]>> = {
  '`settings` of an agent or of `defaults`': Object.keys(DEFAULT_SETTINGS),
  '`budget` of an agent or of `defaults`, `cycle` of a goal': [
    ...Object.keys(DEFAULT_BUDGET),
    'maxCostUsd',
  ],
  '`defineAgent`': own(AGENT_FIELDS),
  '`defineTool`': own(TOOL_FIELDS),
  '`defineGoal`': words(
    'objective constraints done validation judges reviewer cycle minCycleMicroUsd roundMicroUsd briefTokens reviewEvery pace stopRules agentVersion unavailableMs closeMs maxAskedPauseMs',
  ),
  '`budget` of a goal': words('maxCycles deadlineMs hardMaxCostMicroUsd hardMaxCostUsd'),
  '`defineConfig`': CONFIG_FIELDS,
  '`console` of `defineConfig`': words(
    'host port publicUrl temporalUi jwt serviceTokens access starts mcpServer trustedProxies webhooks',
  ),
  '`connection` of `defineConfig`': words('address namespace tls apiKeyFile metadata codec'),
  '`worker` of `defineConfig`': words(
    'decisionsAtOnce activitiesAtOnce maxCachedWorkflows workflowPollers activityPollers activitiesPerSecond queueActivitiesPerSecond',
  ),
};

/** Before what else a hint says; empty: the field belongs nowhere. */
export function belongs(field: string): string {
  const places = Object.keys(FIELD_PLACES).filter((place) => FIELD_PLACES[place]?.includes(field));
  return places.length === 0 ? '' : `"${field}" belongs into ${places.join(' or ')}. `;
}

/** The same for a field that a schema does not know. */
export function misplaced(issue: z.core.$ZodIssue | undefined): string {
  return issue?.code === 'unrecognized_keys' ? belongs(issue.keys[0] ?? '') : '';
}

/** A part of the configuration that does not fit its schema. */
export function wrongPart(part: string, { issues }: z.ZodError, more: string): HoldfastError {
  const [issue] = issues;
  const path = [part, ...(issue?.path ?? [])].join('.');
  return new HoldfastError(
    'InvalidConfig',
    `The configuration cannot be used: ${path} is not allowed: ${issue?.message ?? 'not valid'}.`,
    { hint: `${misplaced(issue)}Correct ${path}; ${more}` },
  );
}

export const OR_LEAVE = 'leave it out to get its default.';
