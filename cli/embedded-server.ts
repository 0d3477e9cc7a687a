/** Starting the embedded server in the foreground, and saying where it is. */
import { resolve } from 'node:path';
import { HoldfastError } from '../core/state/errors.js';
import {
  findServer,
  leftBehind,
  startServer,
  type Progress,
  type ServerHandle,
} from '../devserver/index.js';
import type { CliEnvironment } from './environment.js';
import type { Output } from './terminal/output.js';
import { durationText } from './render/index.js';

export const DEFAULT_PORT = 7233;
export const DEFAULT_UI_PORT = 8233;

export interface ServerOptions {
  readonly binary?: string;
  readonly port?: number;
  readonly uiPort?: number;
  /** Without Temporal's own web page. */
  readonly headless?: boolean;
}

const SETTING_NAMES = {
  address: 'HOLDFAST_ADDRESS or --address',
  binary: 'HOLDFAST_TEMPORAL or --binary',
};

/** Finds or builds the server, starts it on the data folder and waits until it is usable. */
export async function startEmbedded(
  environment: CliEnvironment,
  options: ServerOptions & { readonly home: string },
  output: Output,
): Promise<ServerHandle> {
  const binary = options.binary ?? environment.variables.HOLDFAST_TEMPORAL;
  const found = await findServer({
    environment: environment.variables,
    ...(binary !== undefined && { binary: resolve(environment.folder, binary) }),
    settingNames: SETTING_NAMES,
    onProgress: (progress) => output.remark(progressLine(progress)),
  });
  if (found.kind !== 'binary') {
    throw new HoldfastError('Internal', 'No binary of the server was found.');
  }
  const server = await startServer({
    binary: found,
    dataDir: options.home,
    environment: environment.variables,
    port: options.port ?? DEFAULT_PORT,
    ...(options.headless ? {} : { uiPort: options.uiPort ?? DEFAULT_UI_PORT }),
  });
  output.data({
    address: server.address,
    uiUrl: server.uiUrl ?? null,
    databaseFile: server.databaseFile,
    serverVersion: found.versions.server,
    pid: server.pid,
  });
  for (const line of serverLines(server)) output.line(line);
  await sayLeftBehind(options.home, found.versions.server, output);
  return server;
}

function serverLines(server: ServerHandle): readonly string[] {
  return [
    `Temporal server  ${server.address}`,
    `Temporal UI      ${server.uiUrl ?? 'off (--headless)'}`,
    `Database         ${server.databaseFile}`,
  ];
}

function progressLine({ step, message, elapsedMs }: Progress): string {
  return `[${step} ${durationText(elapsedMs)}] ${message}`;
}

/** Runs of another server version are not lost, but this server does not show them. */
async function sayLeftBehind(home: string, serverVersion: string, output: Output): Promise<void> {
  for (const { file, serverVersion: other, bytes } of await leftBehind(home, serverVersion)) {
    const size = `${Math.ceil(bytes / 1024)} KiB`;
    output.remark(
      `Left behind: ${file} (${size}) holds runs of server ${other}; this is ${serverVersion}. Finish them with that version, or delete the file.`,
    );
  }
}
