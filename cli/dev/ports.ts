/**
 * The ports of `holdfast dev`, looked at before anything starts: one sentence says all that are taken and who holds them, one
 * whole command begins with others.
 * Invariant: a desk whose port alone is taken stops nothing.
 */
import { HoldfastError } from '../../core/state/errors.js';
import { holderOf, holderText, isPortFree, isPortTaken } from '../../devserver/index.js';
import { DEFAULT_PORT, DEFAULT_UI_PORT } from '../embedded-server.js';
import { shownPlace } from '../../store/place.js';
import { inert, shellWord } from '../render/index.js';
import type { DevOptions } from './options.js';

export interface WantedPort {
  readonly port: number;
  readonly option: '--port' | '--ui-port' | '--console-port';
  readonly purpose: string;
}

const OTHERS_MAX = 50;
const PORT_MAX = 65_535;

/** Of the server that is to be started, and of the desk. A port of 0 is any. */
export function wantedPorts(
  { port, uiPort, headless, console, consolePort }: DevOptions,
  deskPort: number,
): readonly WantedPort[] {
  const wanted: WantedPort[] = [
    { port: port ?? DEFAULT_PORT, option: '--port', purpose: 'the Temporal server' },
  ];
  if (headless !== true) {
    const purpose = "Temporal's web page";
    wanted.push({ port: uiPort ?? DEFAULT_UI_PORT, option: '--ui-port', purpose });
  }
  if (console) {
    const purpose = 'the approval desk';
    wanted.push({ port: consolePort ?? deskPort, option: '--console-port', purpose });
  }
  return wanted.filter((one) => one.port !== 0);
}

/** Errors: PortTaken, when one of the server's is. */
export async function requirePorts(
  wanted: readonly WantedPort[],
  options: DevWords,
): Promise<void> {
  const taken: WantedPort[] = [];
  for (const one of wanted) if (await isPortTaken(one.port)) taken.push(one);
  if (taken.every(({ option }) => option === '--console-port')) return;
  const command = await commandWithOthers(taken, options, wanted);
  throw new HoldfastError('PortTaken', await takenText(taken), {
    hint: `Run this project beside it: ${command}\nOr end that program first. \`holdfast doctor\` checks every port.`,
    details: { ports: taken.map(({ port }) => port) },
  });
}

/** `Ports 7233 (the Temporal server) and 8585 (the approval desk) are taken by …`. */
export async function takenText(taken: readonly WantedPort[]): Promise<string> {
  const byHolder = new Map<string, string[]>();
  for (const { port, purpose } of taken) {
    const holder = await holderOf(port);
    const who = holder === undefined ? 'another program' : inert(holderText(holder));
    byHolder.set(who, [...(byHolder.get(who) ?? []), `${port} (for ${purpose})`]);
  }
  return [...byHolder]
    .map(([who, ports]) => {
      const many = ports.length > 1;
      return `${many ? 'Ports' : 'Port'} ${listed(ports)} ${many ? 'are' : 'is'} taken by ${who}.`;
    })
    .join(' ');
}

/** The command as it was given, with free ports in place of those that are taken. */
export async function commandWithOthers(
  taken: readonly WantedPort[],
  options: DevWords,
  wanted: readonly WantedPort[] = taken,
): Promise<string> {
  const others = new Map<string, number>();
  const step = await stepToFree(taken, wanted);
  for (const { option, port } of taken) others.set(option, step === undefined ? 0 : port + step);
  const words = [...VALUES, ...SWITCHES].flatMap(([key, flag]) => {
    const value = others.get(flag) ?? options[key];
    if (typeof value === 'boolean') return value === flag.startsWith('--no-') ? [] : [flag];
    if (typeof value !== 'string' && typeof value !== 'number') return [];
    // The place of a store may have a password.
    return [flag, shellWord(key === 'store' ? shownPlace(`${value}`) : `${value}`)];
  });
  return ['holdfast dev', ...words].join(' ');
}

/** Ports that lie side by side stay so: 7234, 8234 and 8586. */
async function stepToFree(
  taken: readonly WantedPort[],
  wanted: readonly WantedPort[],
): Promise<number | undefined> {
  const staying = wanted.filter((one) => !taken.includes(one)).map(({ port }) => port);
  for (let step = 1; step <= OTHERS_MAX; step += 1) {
    const ports = taken.map(({ port }) => port + step);
    if (ports.some((port) => port > PORT_MAX)) return undefined;
    const free = await Promise.all(ports.map(isPortFree));
    if (free.every(Boolean) && !ports.some((port) => staying.includes(port))) return step;
  }
  return undefined;
}

/** Options of the command by the names that its parser gives them. */
export type DevWords = Readonly<Partial<Record<string, unknown>>>;

const VALUES = [
  ['port', '--port'],
  ['uiPort', '--ui-port'],
  ['consolePort', '--console-port'],
  ['config', '--config'],
  ['address', '--address'],
  ['namespace', '--namespace'],
  ['taskQueue', '--task-queue'],
  ['store', '--store'],
  ['home', '--home'],
  ['binary', '--binary'],
  ['ask', '--ask'],
  ['agent', '--agent'],
] as const;

const SWITCHES = [
  ['headless', '--headless'],
  ['console', '--no-console'],
  ['watch', '--no-watch'],
  ['json', '--json'],
] as const;

function listed(names: readonly string[]): string {
  return names.length < 2
    ? names.join('')
    : `${names.slice(0, -1).join(', ')} and ${names.at(-1) ?? ''}`;
}
