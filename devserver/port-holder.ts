/**
 * Which process listens on a loopback port: for sentences that say why a port cannot be had.
 * Invariants: what the system does not tell is left out, and nothing here fails; only processes of this user are told apart.
 */
import { readFileSync, readdirSync, readlinkSync } from 'node:fs';
import { basename } from 'node:path';
import { runCommand } from './run-command.js';

export interface PortHolder {
  readonly pid: number;
  /** `holdfast dev`, or the name of the program. */
  readonly name: string;
  readonly isHoldfast: boolean;
  /** Where it runs. */
  readonly folder?: string;
}

interface Process {
  readonly pid: number;
  readonly parent: number;
  readonly words: readonly string[];
  readonly folder?: string;
}

const LISTENING = '0A';
/** 127.x.x.x, any address, and the same of the other family, as the system's tables write them. */
const HERE = /^(?:[0-9A-F]{6}7F|0{8}|0{32}|0{24}01000000|0{16}FFFF0000[0-9A-F]{6}7F)$/i;
const LIMIT_MS = 2_000;

/** undefined: nobody listens there, or nobody can tell. */
export async function holderOf(port: number): Promise<PortHolder | undefined> {
  try {
    const look = process.platform === 'darwin' ? onMac : onLinux;
    const found = await look(port);
    if (found === undefined) return undefined;
    // The server is a child of the command that people know and can end.
    const above = isServer(found) ? await processWith(found.parent) : undefined;
    const own = above !== undefined && holdfastName(above.words) !== undefined ? above : found;
    return holder(own);
  } catch {
    return undefined;
  }
}

/** `holdfast dev` in /home/ana/shop (process 4711). */
export function holderText({ pid, name, isHoldfast, folder }: PortHolder): string {
  const who = isHoldfast ? `\`${name}\`` : name;
  return `${who}${folder === undefined ? '' : ` in ${folder}`} (process ${pid})`;
}

function holder({ pid, words, folder }: Process): PortHolder {
  const own = holdfastName(words);
  const name = own ?? basename(words[0] ?? '');
  return {
    pid,
    name: name === '' ? 'a program' : name,
    isHoldfast: own !== undefined,
    ...(folder !== undefined && { folder }),
  };
}

/** `holdfast dev` of the words of a command line; undefined: another program. */
export function holdfastName(words: readonly string[]): string | undefined {
  // The program itself, or what an interpreter runs.
  const script = words.slice(0, 2).findIndex((word) => SCRIPT.test(word));
  if (script === -1) return undefined;
  const command = words.slice(script + 1).find((word) => /^[a-z][a-z-]*$/.test(word));
  return command === undefined ? 'holdfast' : `holdfast ${command}`;
}

const SCRIPT = /(?:^|[\\/])(?:holdfast|holdfast[\\/]dist[\\/]cli[\\/]main\.js)$/;

function isServer({ words }: Process): boolean {
  return words.includes('start-dev');
}

function processWith(pid: number): Process | undefined | Promise<Process | undefined> {
  return process.platform === 'darwin' ? macProcess(pid) : linuxProcess(pid);
}

async function onLinux(port: number): Promise<Process | undefined> {
  const sockets = new Set(
    ['/proc/net/tcp', '/proc/net/tcp6'].flatMap((table) => listeningSockets(textOf(table), port)),
  );
  if (sockets.size === 0) return undefined;
  const pids = readdirSync('/proc').filter((name) => /^\d+$/.test(name));
  const pid = pids.find((one) => socketsOf(one).some((socket) => sockets.has(socket)));
  return pid === undefined ? undefined : linuxProcess(Number(pid));
}

/** Of a table of the system's: `socket:[4711]` for each that listens on the port. */
export function listeningSockets(table: string, port: number): readonly string[] {
  return table.split('\n').flatMap((line) => {
    const [, local = '', , state, , , , , , inode] = line.trim().split(/\s+/);
    const [address = '', its = ''] = local.split(':');
    const isPort = Number.parseInt(its, 16) === port && HERE.test(address);
    return isPort && state === LISTENING ? [`socket:[${inode}]`] : [];
  });
}

function socketsOf(pid: string): readonly string[] {
  try {
    return readdirSync(`/proc/${pid}/fd`).map((fd) => linkOf(`/proc/${pid}/fd/${fd}`) ?? '');
  } catch {
    return [];
  }
}

function linuxProcess(pid: number): Process {
  const folder = linkOf(`/proc/${pid}/cwd`);
  const parent = /^PPid:\s*(\d+)$/m.exec(textOf(`/proc/${pid}/status`))?.[1];
  return {
    pid,
    parent: Number(parent ?? 0),
    words: textOf(`/proc/${pid}/cmdline`)
      .split('\0')
      .filter((word) => word !== ''),
    ...(folder !== undefined && { folder }),
  };
}

function textOf(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return '';
  }
}

function linkOf(file: string): string | undefined {
  try {
    return readlinkSync(file);
  } catch {
    return undefined;
  }
}

async function onMac(port: number): Promise<Process | undefined> {
  const found = await lines('lsof', ['-nP', `-iTCP:${port}`, '-sTCP:LISTEN', '-Fp']);
  const pid = found.find((line) => line.startsWith('p'));
  return pid === undefined ? undefined : macProcess(Number(pid.slice(1)));
}

async function macProcess(pid: number): Promise<Process | undefined> {
  const [told] = await lines('ps', ['-o', 'ppid=,command=', '-p', String(pid)]);
  const [, parent, command] = /^\s*(\d+)\s+(.*)$/.exec(told ?? '') ?? [];
  if (command === undefined) return undefined;
  const at = await lines('lsof', ['-a', '-p', String(pid), '-d', 'cwd', '-Fn']);
  const folder = at.find((line) => line.startsWith('n'))?.slice(1);
  const words = command.split(' ');
  return { pid, parent: Number(parent), words, ...(folder !== undefined && { folder }) };
}

async function lines(file: string, args: readonly string[]): Promise<readonly string[]> {
  const environment = { PATH: '/usr/sbin:/usr/bin:/bin:/sbin', LC_ALL: 'C' };
  const { ok, output } = await runCommand({ file, args, environment, timeoutMs: LIMIT_MS });
  return ok ? output.split('\n').filter((line) => line !== '') : [];
}
