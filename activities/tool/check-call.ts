/**
 * check_call: arguments that the model did not propose as they stand: a person's correction, a hook's input,
 * resolved references.
 * Invariants: they pass the same checks and limits as proposed ones; a stored text is read only when the
 * call named it before; what a reference brings in may not name stored texts.
 */
import {
  holdsIn,
  missingFrom,
  referencesIn,
  resolveReferences,
  valueOf,
  type StateValues,
} from '../../core/dataflow/references.js';
import { ARGUMENTS_BYTES_MAX, isBlobRef, type Json } from '../../core/json/json.js';
import type { CheckCallInput, CheckCallOutput } from '../../core/state/effect.js';
import type { StoreCalls } from '../../store/store.js';
import { appendEvents } from '../run/append-events.js';
import { findArgumentDefect } from './argument-limits.js';
import {
  checkArguments,
  refused,
  spillChecked,
  withOutlook,
  type Checked,
} from './checked-arguments.js';
import { now, type ActivityDeps, type InTransaction } from '../deps.js';
import { callDigest } from '../digests.js';
import { findCode } from '../lacking-code.js';
import type { Scope } from '../scope.js';

/** What the values that one call refers to may have together. */
const STATE_BYTES_MAX = 16 * 1024 * 1024;

export async function checkCall(
  deps: ActivityDeps,
  scope: Scope,
  input: CheckCallInput,
): Promise<CheckCallOutput> {
  const eventsUpTo = await appendEvents(deps.store, scope, input);
  const code = await findCode(deps, scope, input);
  if (code.kind === 'elsewhere') throw code.refusal;
  const checked = await checkWith(deps, input, code.kind === 'nowhere');
  const { schemaHash } = code.kind === 'changed' ? code : {};
  return { ...checked, ...(schemaHash !== undefined && { schemaHash }), eventsUpTo };
}

async function checkWith(
  deps: ActivityDeps,
  input: CheckCallInput,
  isUnserved: boolean,
): Promise<Omit<CheckCallOutput, 'eventsUpTo'>> {
  if (isUnserved && input.unservedMs !== undefined) {
    const message = `No worker has served ${input.tool} of version ${input.toolVersion}.`;
    return output(input, refused({}, 'tool_unavailable', message));
  }
  const answer = await judge(deps, input);
  if ('unmet' in answer) return { ...output(input, { args: {}, check: { ok: true } }), ...answer };
  const { tenant } = input.run;
  const { config, store } = deps;
  const spilled = fitting(input, await spillChecked({ store, tenant }, answer));
  const tool = { name: input.tool, version: input.toolVersion };
  const site = { config, store, tenant, at: now(deps) };
  const check = spilled.check.ok ? await withOutlook(site, tool, answer) : spilled.check;
  return output(input, { ...spilled, check });
}

function output(input: CheckCallInput, { args, check }: Checked) {
  const { tool, toolVersion } = input;
  return { args, digest: callDigest({ tool, toolVersion, args }), check };
}

function fitting(
  { argsBytesMax = ARGUMENTS_BYTES_MAX }: CheckCallInput,
  checked: Checked,
): Checked {
  const bytes = Buffer.byteLength(JSON.stringify(checked.args));
  if (bytes <= Math.min(argsBytesMax, ARGUMENTS_BYTES_MAX)) return checked;
  if (!checked.check.ok) return { ...checked, args: {} };
  return refused(
    {},
    'invalid_arguments',
    'The arguments are too large for one call; send less at once.',
  );
}

type Unmet = Pick<Required<CheckCallOutput>, 'unmet'>;

async function judge(deps: InTransaction, input: CheckCallInput): Promise<Checked | Unmet> {
  const { args, blobs = [], run } = input;
  const defect = findArgumentDefect(args) ?? foreignText(args, blobs);
  if (defect !== undefined) {
    return refused({}, 'invalid_arguments', `The arguments cannot be used: ${defect}.`);
  }
  const whole = await deps.store.restoreArguments(run.tenant, args);
  const tool = { name: input.tool, version: input.toolVersion };
  if (input.state === undefined) return checkArguments(deps, tool, whole);
  const values = await valuesOf(deps.store, input);
  if (values === undefined) {
    return refused(
      {},
      'invalid_arguments',
      'The values that the arguments refer to are too large.',
    );
  }
  if (input.when !== undefined && !holdsIn(values, input.when))
    return { unmet: { kind: 'condition' } };
  return resolve(deps, { input, args: whole, values });
}

interface Unresolved {
  readonly input: CheckCallInput;
  readonly args: Json;
  readonly values: StateValues;
}

function resolve(deps: InTransaction, { input, args, values }: Unresolved): Checked | Unmet {
  const found = referencesIn(args);
  if (!found.ok) {
    return refused({}, 'invalid_arguments', `The arguments cannot be used: ${found.defect}.`);
  }
  const path = missingFrom(values, found.paths);
  if (path !== undefined) return { unmet: { kind: 'reference', path } };
  const tool = { name: input.tool, version: input.toolVersion };
  return checkArguments(deps, tool, resolveReferences(args, values));
}

async function valuesOf(
  store: StoreCalls,
  { run, state = {} }: CheckCallInput,
): Promise<StateValues | undefined> {
  const stored = Object.entries(state);
  const bytes = stored.reduce((sum, [, value]) => sum + ('bytes' in value ? value.bytes : 0), 0);
  if (bytes > STATE_BYTES_MAX) return undefined;
  const values: [string, Json][] = [];
  for (const [path, value] of stored) {
    const text =
      'text' in value ? value.text : await store.getText(run.tenant, { ...value, preview: '' });
    values.push([path, valueOf(text, value)]);
  }
  return Object.fromEntries(values);
}

/** Nobody gets at a text by writing its hash into an argument. */
function foreignText(args: Json, known: readonly string[]): string | undefined {
  if (typeof args !== 'object' || args === null) return undefined;
  if (isBlobRef(args)) {
    return known.includes(args.$blob) ? undefined : 'they name a stored text that is not theirs';
  }
  for (const part of Object.values(args) as readonly Json[]) {
    const found = foreignText(part, known);
    if (found !== undefined) return found;
  }
  return undefined;
}
