/**
 * The program inside of the sandbox: makes the work folder, runs one command under its limits, ends everything that
 * it started, and hands the folder back. It has no secrets, and the command may do to it what it likes: what it then says
 * is a broken frame, and nothing of the folder is kept.
 */
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import {
  frameOf,
  readFrame,
  type CommandEnd,
  type EndedBy,
  type SandboxReply,
  type SandboxRequest,
} from '../protocol.js';
import { startBridge } from './bridge.js';
import { makeFolder, readFolder } from './folder.js';
import { keepOutput, type Kept } from './output.js';
import { endOthers, memoryOfOthers } from './processes.js';

const WORK = '/work';
/** Where the sandbox has this program: anywhere else it would end the processes of its user. */
const OWN_PLACE = '/holdfast/inside';
const MEMORY_LOOK_MS = 100;
/** Its pipes may be held by what it started: those are ended, and then no longer waited for. */
const PIPES_MS = 2_000;

async function main(): Promise<void> {
  if (__dirname !== OWN_PLACE) throw new Error('This program runs in a sandbox alone.');
  const { head: request, contents } = await readFrame<SandboxRequest>(process.stdin, Infinity);
  makeFolder(WORK, request, contents);
  const bridge = request.proxy && (await startBridge(request.proxy));
  const end = await runCommand(request);
  bridge?.close();
  const folder = readFolder(WORK, request.limits.folder);
  const fresh = new Map([...folder.contents].filter(([hash]) => !contents.has(hash)));
  const { entries, refused, skipped } = folder;
  const head: SandboxReply = {
    end,
    ...(entries !== undefined && { entries }),
    ...(refused !== undefined && { refused }),
    skipped,
    contents: [...fresh].map(([hash, content]) => [hash, content.length]),
  };
  const reply = frameOf({ head, contents: fresh });
  await new Promise<void>((resolve, reject) => {
    process.stdout.write(reply, (error) => (error ? reject(error) : resolve()));
  });
}

async function runCommand({ argv, env, stdin, limits }: SandboxRequest): Promise<CommandEnd> {
  const startedAt = performance.now();
  const stdout = keepOutput(limits.outputBytes);
  const stderr = keepOutput(limits.outputBytes);
  const [command = '', ...args] = argv;
  const child = spawn(command, args, { cwd: WORK, env, stdio: 'pipe', detached: true });
  // What does not read its input ends it.
  child.stdin.on('error', () => undefined).end(stdin ?? '');
  const endedBy = await endOf(child, { stdout, stderr, limits });
  await endOthers();
  await piped(child);
  return {
    endedBy,
    exitCode: child.exitCode,
    signal: child.signalCode,
    stdout: stdout.output(),
    stderr: stderr.output(),
    durationMs: Math.round(performance.now() - startedAt),
  };
}

interface Watched extends Pick<SandboxRequest, 'limits'> {
  readonly stdout: Kept;
  readonly stderr: Kept;
}

/** Resolves when the command has ended, or when it has to. */
function endOf(child: ChildProcess, { stdout, stderr, limits }: Watched): Promise<EndedBy> {
  return new Promise((resolve) => {
    const timers: NodeJS.Timeout[] = [];
    const end = (by: EndedBy): void => {
      for (const timer of timers) clearTimeout(timer);
      resolve(by);
    };
    const read = (kept: Kept) => (chunk: Buffer) => {
      kept.take(chunk);
      if (stdout.written() + stderr.written() > limits.floodBytes) end('output');
    };
    child.stdout?.on('data', read(stdout));
    child.stderr?.on('data', read(stderr));
    child.once('exit', () => end('exit'));
    child.once('error', (error) => {
      stderr.take(Buffer.from(`${error.message}\n`));
      end('exit');
    });
    timers.push(setTimeout(() => end('time'), limits.timeMs));
    timers.push(
      setInterval(() => {
        if (memoryOfOthers() > limits.memoryBytes) end('memory');
      }, MEMORY_LOOK_MS),
    );
    // The worker closes its side when the call is stopped.
    process.stdin.resume().once('end', () => end('stop'));
    if (process.stdin.readableEnded) end('stop');
  });
}

async function piped(child: ChildProcess): Promise<void> {
  const open = [child.stdout, child.stderr].filter((pipe) => pipe !== null && !pipe.closed);
  const late = new AbortController();
  const timer = setTimeout(() => late.abort(), PIPES_MS);
  const { signal } = late;
  await Promise.all(open.map((pipe) => once(pipe!, 'close', { signal }).catch(() => undefined)));
  clearTimeout(timer);
}

main().then(
  () => process.exit(0),
  (error: unknown) => {
    process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
    process.exit(1);
  },
);
