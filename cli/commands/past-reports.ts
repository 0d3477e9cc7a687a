/** Files of the reports of `holdfast eval --from`. What was played may have cost money: no mistake in a name loses it. */
import { constants } from 'node:fs';
import { access, stat } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import type { HoldfastError } from '../../core/state/errors.js';
import { withoutSecrets } from '../../pure/secret-values.js';
import { junitOf, markdownOf, type PastReport } from '../../evaluation/past/report.js';
import type { CliEnvironment } from '../environment.js';
import { replaceFile } from '../new-file.js';
import { exactJson } from '../render/index.js';
import { notWritten } from '../terminal/file-error.js';
import { usage } from '../usage.js';
import type { PastOptions } from './past-options.js';

const NAMES = ['json', 'markdown', 'junit'] as const;

const TEXTS: { readonly [name in (typeof NAMES)[number]]: (report: PastReport) => string } = {
  json: (report) => `${exactJson(report, 2)}\n`,
  markdown: markdownOf,
  junit: junitOf,
};

/** Before anything is played. Errors: `FileUnusable`; `Usage`: a folder is named. */
export async function refuseUnwritable(options: PastOptions, folder: string): Promise<void> {
  const named = new Map<string, string>();
  for (const name of NAMES) {
    const given = options[name];
    if (given === undefined) continue;
    const file = resolve(folder, given);
    const other = named.get(file);
    if (other !== undefined)
      throw usage(
        `--${other} and --${name} name one file.`,
        'The later report would take the place of the other: name two.',
      );
    named.set(file, name);
    const facts = await stat(file).catch(() => undefined);
    if (facts?.isDirectory() === true)
      throw usage(
        `The report cannot be written to ${file}.`,
        'Name another file: this is a folder.',
      );
    const place = facts === undefined ? dirname(file) : file;
    await access(place, constants.W_OK).catch((cause: unknown) => {
      throw notWritten({ what: 'report', place: file, option: `--${name}` }, cause);
    });
  }
}

/** The others are written also when one cannot be. Errors: `FileUnusable`. */
export async function writeReports(
  report: PastReport,
  options: PastOptions,
  { folder, variables }: Pick<CliEnvironment, 'folder' | 'variables'>,
): Promise<void> {
  let failed: HoldfastError | undefined;
  for (const name of NAMES) {
    const given = options[name];
    if (given === undefined) continue;
    const file = resolve(folder, given);
    const text = withoutSecrets(TEXTS[name](report), variables);
    await replaceFile(file, text).catch((cause: unknown) => {
      failed ??= notWritten({ what: 'report', place: file, option: `--${name}` }, cause);
    });
  }
  if (failed !== undefined) throw failed;
}
