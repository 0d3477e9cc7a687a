/** A place for one worker process, which is filled again whenever the process is gone. */
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { HoldfastError } from '../../core/state/errors.js';
import type { WorkerEntrySettings } from '../../testing/index.js';
import type { WorkerPackage } from './packages.js';

export interface WorkerSlot {
  readonly name: string;
  /** Of the process that serves; undefined while none does. */
  readonly pid: number | undefined;
  /** Since when, by `performance.now()`. */
  readonly servingSince: number | undefined;
  /** How often a process ended by itself before it served, or after it. */
  readonly failures: readonly string[];
  /** SIGKILL, and a new process at once. */
  kill(): Promise<void>;
  /** SIGKILL, and no new process until `release`. */
  hold(): Promise<void>;
  release(): void;
  /** Resolves when a process serves. */
  serving(): Promise<void>;
  stop(): Promise<void>;
}

export interface SlotSettings {
  readonly code: WorkerPackage;
  readonly settings: Omit<WorkerEntrySettings, 'configModule'>;
  readonly say: (line: string) => void;
}

const TOLD_CHARS = 4_000;
const TOLD_LINES_SHOWN = 3;
const FAILURES_MAX = 20;
/** A process that cannot start is not started without pause. */
const FAILED_PAUSE_MS = 2_000;
const STOP_LIMIT_MS = 10_000;
const SERVING_LIMIT_MS = 60_000;
/** The crash kit's own descriptor (testing/crash/protocol.ts) comes fourth. */
const STDIO = ['pipe', 'pipe', 'pipe', 'pipe'] as const;

export function openSlot(name: string, settings: SlotSettings): WorkerSlot {
  const slot = new Slot(name, settings);
  slot.release();
  return slot;
}

class Slot implements WorkerSlot {
  readonly name: string;
  readonly failures: string[] = [];
  servingSince: number | undefined;
  private child: ChildProcess | undefined;
  private mayStart = true;
  private awaited: (() => void)[] = [];

  constructor(
    name: string,
    private readonly slot: SlotSettings,
  ) {
    this.name = `${name} (${slot.code.name})`;
  }

  get pid(): number | undefined {
    return this.servingSince === undefined ? undefined : this.child?.pid;
  }

  async kill(): Promise<void> {
    await this.end('SIGKILL');
  }

  async hold(): Promise<void> {
    this.mayStart = false;
    await this.kill();
  }

  release(): void {
    this.mayStart = true;
    this.start();
  }

  async stop(): Promise<void> {
    this.mayStart = false;
    const force = setTimeout(() => this.child?.kill('SIGKILL'), STOP_LIMIT_MS);
    await this.end('SIGTERM');
    clearTimeout(force);
  }

  serving(): Promise<void> {
    return new Promise((resolve, reject) => {
      if (this.servingSince !== undefined) return resolve();
      const late = setTimeout(() => reject(notServing(this)), SERVING_LIMIT_MS);
      this.awaited.push(() => {
        clearTimeout(late);
        resolve();
      });
    });
  }

  private start(): void {
    if (!this.mayStart) return;
    const { code, settings } = this.slot;
    const argument = JSON.stringify({ ...settings, configModule: code.configModule });
    const child = spawn(process.execPath, [code.entry, argument], { stdio: [...STDIO] });
    this.child = child;
    const told = tailOf(child);
    createInterface({ input: child.stdout! }).on('line', (line) => {
      if (line.includes('"serving"')) this.serves();
    });
    child.once('exit', (exitCode, signal) => {
      this.servingSince = undefined;
      if (!this.mayStart) return;
      if (signal === 'SIGKILL') return this.start();
      this.failed(`ended with ${exitCode ?? signal}: ${told()}`);
    });
  }

  private serves(): void {
    this.servingSince = performance.now();
    for (const tell of this.awaited) tell();
    this.awaited = [];
  }

  private failed(why: string): void {
    const failure = `${this.name} ${why}`;
    if (this.failures.length < FAILURES_MAX) this.failures.push(failure);
    this.slot.say(failure);
    setTimeout(() => this.start(), FAILED_PAUSE_MS).unref();
  }

  private async end(signal: NodeJS.Signals): Promise<void> {
    const { child } = this;
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return;
    const gone = once(child, 'exit');
    child.kill(signal);
    await gone;
  }
}

function notServing({ name, failures }: WorkerSlot): HoldfastError {
  const why = failures.at(-1) ?? 'it said nothing';
  return new HoldfastError('Internal', `${name} does not serve: ${why}.`, {
    hint: 'Start a worker of this build by itself to see why.',
  });
}

/** What a process has said last on its standard error. */
function tailOf(child: ChildProcess): () => string {
  let told = '';
  child.stderr!.on('data', (data: Buffer) => {
    told = (told + data.toString('utf8')).slice(-TOLD_CHARS);
  });
  return () => told.trim().split('\n').slice(0, TOLD_LINES_SHOWN).join(' | ');
}
