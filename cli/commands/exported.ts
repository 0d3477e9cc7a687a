/** Runs that a server holds, as bundles; and what is done with a bundle before it is handed on. */
import type { Json } from '../../core/json/json.js';
import { HoldfastError } from '../../core/state/errors.js';
import type { Bundle } from '../../replay/bundle.js';
import type { ExportPlace } from '../../replay/export-run.js';
import type { RedactionRule } from '../../replay/redaction/rules.js';
import { TENANT } from '../desk/run-record.js';
import type { CliEnvironment } from '../environment.js';
import type { Session } from '../session.js';

/** The bundle of a run that a server holds; alone, or with all runs below it. */
export async function bundleOf(
  session: Session,
  runId: string,
  { alone }: { readonly alone: boolean },
): Promise<Bundle> {
  const { exportRun, exportTree } = await import('../../replay/export-run.js');
  const place = await exportPlace(session);
  return (alone ? exportRun : exportTree)(place, { tenant: TENANT, runId });
}

export async function exportPlace(session: Session): Promise<ExportPlace> {
  const store = await session.wholeStore();
  if (store === undefined) {
    throw new HoldfastError('StoreUnavailable', 'There is no store to read the run from.', {
      hint: 'Name the store of the workers with --store or HOLDFAST_STORE.',
    });
  }
  return { ...(await session.reach()), store };
}

export async function redacted(
  bundle: Bundle,
  rules: readonly RedactionRule[] | undefined,
  allowUnmatched: boolean,
): Promise<Bundle> {
  if (rules === undefined) return bundle;
  const { redactBundle } = await import('../../replay/redaction/redact-bundle.js');
  return redactBundle(bundle, rules, { allowUnmatched });
}

/** Errors, by the function that is given: `RedactionRefused`, which names the variable and never its value. */
export async function secretWatch(
  variables: CliEnvironment['variables'],
): Promise<(value: Json) => void> {
  const { secretFinder } = await import('../../pure/secret-values.js');
  const find = secretFinder(variables);
  if (find === undefined) return () => undefined;
  return (value) => {
    // A large text may be JSON itself.
    const name =
      find(JSON.stringify(value)) ?? (typeof value === 'string' ? find(value) : undefined);
    if (name === undefined) return;
    throw new HoldfastError(
      'RedactionRefused',
      `No bundle is written: the run has seen the value of the variable ${name}.`,
      { hint: 'Hide the value with --redact, and change the secret.' },
    );
  };
}
