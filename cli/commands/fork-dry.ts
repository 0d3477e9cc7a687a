/** `holdfast fork --dry`: a fork that is played without effects, and what it tells. */
import { resolve } from 'node:path';
import type { DryFork } from '../../evaluation/fork/dry-fork.js';
import { usd } from '../../evaluation/past/report.js';
import { withoutSecrets } from '../../pure/secret-values.js';
import type { RunFold } from '../../recording/fold.js';
import type { Bundle } from '../../replay/bundle.js';
import type { Cli } from '../command.js';
import { configurationOf, providersFor } from '../desk/model-access.js';
import { inert, plural } from '../render/index.js';
import { toldOf } from '../terminal/long-work.js';
import type { Output } from '../terminal/output.js';
import { changesOf, type ForkOptions } from './fork-options.js';

const LINE_CHARS_MAX = 600;
const ARGS_CHARS = 200;

interface DryForkWanted {
  readonly fold: RunFold;
  readonly bundle: Bundle;
  readonly options: ForkOptions;
}

export async function forkDry(cli: Cli, wanted: DryForkWanted, output: Output): Promise<void> {
  const { variables } = cli.environment;
  let doing = 'The configuration is still being loaded.';
  const fork = await toldOf(output, { words: () => inert(doing, LINE_CHARS_MAX) }, () =>
    played(cli, wanted, (words) => (doing = words)),
  );
  const told = JSON.parse(withoutSecrets(JSON.stringify(fork), variables)) as DryFork;
  output.data({ mode: 'dry', ...told });
  if (output.json) return;
  for (const line of linesOf(told)) output.line(inert(line, LINE_CHARS_MAX));
  output.remark('A dry fork: no effect happened, approvals were taken as given.');
}

async function played(
  cli: Cli,
  { fold, bundle, options }: DryForkWanted,
  onProgress: (words: string) => void,
): Promise<DryFork> {
  const { folder } = cli.environment;
  const file = options.config === undefined ? undefined : resolve(folder, options.config);
  const config = await configurationOf(folder, file);
  onProgress('The fork is being opened.');
  const changes = await changesOf(cli, options, config);
  const { playDry } = await import('../../evaluation/fork/dry.js');
  return playDry(
    { fold, bundle, step: options.at },
    {
      changes,
      providers: await providersFor(cli, config),
      ...(options.rules === 'newest' && { rules: 'newest' }),
      onProgress,
    },
  );
}

function linesOf(fork: DryFork): readonly string[] {
  const { step, runId, rules, stopReason, detail, answer, waitsFor } = fork;
  const end =
    waitsFor === undefined
      ? `${stopReason}${detail === undefined ? '' : ` (${detail})`}`
      : waits(waitsFor);
  return [
    `Fork of ${runId} after step ${step}, by rules ${rules}: ${end}`,
    ...fork.reads.map(({ tool, callId, from }) => `read             ${tool} ${callId} (${from})`),
    ...fork.wouldExecute.map(
      ({ tool, callId, args, asks, repeats }) =>
        `would execute    ${tool} ${callId} ${JSON.stringify(args).slice(0, ARGS_CHARS)}${asks ? '; a person is asked first' : ''}${repeats === undefined ? '' : `; repeats step ${repeats.step}`}`,
    ),
    ...(fork.wouldExecute.length === 0 ? ['would execute    nothing'] : []),
    ...fork.leftOut.map((line) => `left out         ${line}`),
    `cost             ${usd(fork.costMicroUsd)} of its own, ${usd(fork.totalCostMicroUsd)} with the run before it; ${plural(fork.turns, 'turn')}`,
    ...(answer === undefined ? [] : [`answer           ${answer}`]),
  ];
}

function waits({ kind, tool, question }: NonNullable<DryFork['waitsFor']>): string {
  const about = [tool, question].filter((one) => one !== undefined).join(': ');
  return `ended before a question that only a person can answer (${kind}${about === '' ? '' : ` ${about}`})`;
}
