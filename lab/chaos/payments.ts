/** Starts the payment service, and asks it. */
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { z } from 'zod';
import { HoldfastError } from '../../core/state/errors.js';
import type { Payment } from './payment-service.js';

export interface PaymentService {
  readonly url: string;
  /** All that were made, oldest first. */
  payments(): Promise<readonly Payment[]>;
  /** How many orders of a worker process it is working at. */
  busyWith(worker: number): Promise<number>;
  stop(): Promise<void>;
}

export interface PaymentSettings {
  /** Of its book. */
  readonly file: string;
  readonly seed: number;
  /** Longest time before, and after, the money is sent; ms. */
  readonly delayMsMax: number;
}

const ENTRY = join(__dirname, 'payment-service.ts');

export async function startPayments(settings: PaymentSettings): Promise<PaymentService> {
  const child = spawn(process.execPath, ['--import', 'tsx', ENTRY, JSON.stringify(settings)], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const url = `http://127.0.0.1:${await portOf(child)}`;
  return {
    url,
    payments: async () =>
      (await asked<{ payments: readonly Payment[] }>(`${url}/payments`)).payments,
    busyWith: async (worker) =>
      (await asked<{ busy: number }>(`${url}/busy?worker=${worker}`)).busy,
    async stop() {
      if (child.exitCode !== null) return;
      child.kill('SIGKILL');
      await once(child, 'exit');
    },
  };
}

async function asked<T>(url: string): Promise<T> {
  const response = await fetch(url);
  return (await response.json()) as T;
}

const START_LIMIT_MS = 20_000;
const firstLine = z.object({ port: z.number() });

async function portOf(child: ChildProcess): Promise<number> {
  const lines = createInterface({ input: child.stdout! });
  const timer = setTimeout(() => child.kill('SIGKILL'), START_LIMIT_MS);
  try {
    for await (const line of lines) return firstLine.parse(JSON.parse(line)).port;
  } finally {
    clearTimeout(timer);
    lines.close();
    child.stdout!.resume();
  }
  throw new HoldfastError('ToolUnavailable', 'The payment service did not start.', {
    hint: 'Read what it printed above.',
  });
}
