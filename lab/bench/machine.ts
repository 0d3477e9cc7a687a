/** The machine and the settings that figures were taken with: without them a figure means nothing. */
import { cpus, loadavg, release, totalmem } from 'node:os';
import { Connection } from '@temporalio/client';
import { tuningFlags } from '../../devserver/index.js';

export interface MachineFacts {
  readonly cpu: string;
  readonly cores: number;
  readonly memoryGb: number;
  readonly system: string;
  readonly node: string;
  readonly server: string;
  /** Of the Temporal server's database and of the store: both keep every commit on disk. */
  readonly sqlite: string;
  /** Which core which process is bound to. */
  readonly pinning: string;
  readonly tuning: readonly string[];
  /** Load of the last minute before the bench: above half the cores the figures are those of a busy machine. */
  readonly loadBefore: number;
  readonly takenAt: string;
}

export async function machineFacts(address: string): Promise<MachineFacts> {
  const connection = await Connection.connect({ address });
  const { serverVersion } = await connection.workflowService.getSystemInfo({});
  await connection.close();
  return { ...localFacts(), server: serverVersion ?? 'unknown' };
}

/** Of what needs no server. */
export function localFacts(): MachineFacts {
  const [load = 0] = loadavg();
  return {
    cpu: cpus()[0]?.model ?? 'unknown',
    cores: cpus().length,
    memoryGb: Math.round(totalmem() / 2 ** 30),
    system: `${process.platform} ${release()}`,
    node: process.version,
    server: 'none',
    sqlite: 'WAL, synchronous FULL',
    pinning: 'none',
    tuning: tuningFlags().filter((flag) => flag.includes('=')),
    loadBefore: Math.round(load * 100) / 100,
    takenAt: new Date().toISOString(),
  };
}

export function factLines(facts: MachineFacts): readonly string[] {
  const busy = facts.loadBefore > facts.cores / 2 ? ' (a busy machine)' : '';
  return [
    `${facts.cpu}, ${facts.cores} cores, ${facts.memoryGb} GB, load ${facts.loadBefore}${busy}`,
    `${facts.system}, node ${facts.node}, Temporal server ${facts.server}, SQLite ${facts.sqlite}, pinning ${facts.pinning}`,
    `tuning ${facts.tuning.join(' ')}`,
  ];
}
