/** Entry of a process that runs one command line, JSON in its argument, and tells its peak of memory. */
import { z } from 'zod';
import { runCli } from '../../cli/program.js';

const given = z.object({ folder: z.string(), argv: z.array(z.string()) });

export interface CommandEnd {
  readonly code: number;
  /** Peak of resident memory, as the system has counted it. */
  readonly rssKb: number;
  /** Of the whole process, from its beginning. */
  readonly cpuMs: number;
  readonly err: string;
}

async function main(): Promise<void> {
  const { folder, argv } = given.parse(JSON.parse(process.argv[2] ?? '{}'));
  let err = '';
  const code = await runCli(argv, {
    environment: { variables: {}, folder, colour: false, interactive: false },
    streams: { out: () => undefined, err: (text) => void (err += text) },
  });
  const { maxRSS, userCPUTime, systemCPUTime } = process.resourceUsage();
  const cpuMs = (userCPUTime + systemCPUTime) / 1_000;
  const end: CommandEnd = { code, rssKb: maxRSS, cpuMs, err };
  process.send?.(end, () => process.exit(0));
}

void main();
