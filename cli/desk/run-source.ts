/** Recorded runs as an option names them: a bundle, a folder of bundles, or conditions of `holdfast list`. */
import { stat } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { Command } from 'commander';
import { HoldfastError } from '../../core/state/errors.js';
import type { Cli } from '../command.js';
import type { Session } from '../session.js';
import { usage, wholeNumber } from '../usage.js';
import { searchRuns, withRows, withSearch, type SearchOptions } from './search-runs.js';

const RUNS_MAX = 1_000;
const RUNS_DEFAULT = 100;

/** Files with bundles, or conditions for runs of the store. */
export type RunSource =
  | { readonly files: readonly string[] }
  | { readonly query: string; readonly conditions: Conditions };

/** Errors: `Usage`. */
export async function sourceOf(folder: string, from: string): Promise<RunSource> {
  const place = resolve(folder, from);
  // Nothing at all, such as an unset variable, is not the working directory.
  const facts = from.trim() === '' ? undefined : await stat(place).catch(() => undefined);
  if (facts?.isFile() === true) return { files: [place] };
  if (facts?.isDirectory() !== true) return { query: from, conditions: conditionsIn(from) };
  const { bundlesIn } = await import('../../replay/replay-folder.js');
  const files = await bundlesIn(place);
  if (files.length > RUNS_MAX) throw tooMany(files.length);
  return { files: files.map((file) => join(place, file)) };
}

export async function foundBy(
  { query, conditions }: Extract<RunSource, { readonly query: string }>,
  cli: Cli,
  session: Session,
): Promise<readonly string[]> {
  const { items } = await searchRuns(cli, session, { limit: RUNS_DEFAULT, ...conditions });
  if (items.length > 0) return items.map(({ runId }) => runId);
  throw usage(`No run fits "${query.slice(0, 200)}".`, 'Try the conditions with `holdfast list`.');
}

function tooMany(count: number): HoldfastError {
  return usage(`The folder has ${count} files.`, `At most ${RUNS_MAX} runs are played at once.`);
}

type Conditions = SearchOptions & { readonly limit?: number };

/** `agent=refund since=7d`, read by the options of `holdfast list`. */
function conditionsIn(query: string): Conditions {
  const words = query.trim().split(/[\s,]+/);
  const argv = words.flatMap((word) => {
    const equals = word.indexOf('=');
    if (equals < 1 || equals === word.length - 1) {
      throw usage(
        `"${query.slice(0, 200)}" is neither a folder nor a query.`,
        'A query has conditions of `holdfast list`: --from "agent=refund since=7d".',
      );
    }
    const name = word
      .slice(0, equals)
      .replaceAll(/[A-Z_]/g, (char) => `-${char === '_' ? '' : char.toLowerCase()}`);
    return [`--${name}`, word.slice(equals + 1)];
  });
  const bare = new Command('query')
    .exitOverride()
    .configureOutput({ writeErr: () => undefined })
    .option('--limit <count>', '', wholeNumber('limit', [1, RUNS_MAX]));
  const reader = withSearch(withRows(bare));
  try {
    return reader.parse(argv, { from: 'user' }).opts<Conditions>();
  } catch (cause) {
    if (cause instanceof HoldfastError) throw cause;
    throw usage(
      `The query "${query.slice(0, 200)}" cannot be read.`,
      'A query has the options of `holdfast list` as its keys: agent, status, cost-from, stop-reason, since, tool, limit ….',
    );
  }
}
