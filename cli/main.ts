#!/usr/bin/env node
/** The command `holdfast`. */
import { resolve } from 'node:path';
import { oldNodeText } from '../create-holdfast/old-node.js';
import { cliEnvironment } from './environment.js';
import { EXIT } from './exit-code.js';
import { beginEarly } from '../replay/stream/index-beside.js';
import { runCli } from './program.js';
import { quietOnServerNames } from './server-names.js';

/** As it is before any code of a project is loaded, which may not end the process meanwhile. */
const { exit } = process;

/** The reader left (`| head`): how a command that goes on for long would end nobody knows then. */
function quietOnClosedPipe(stream: NodeJS.WriteStream): void {
  stream.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') exit(EXIT.error);
    // Remarks without a reader stop no work.
    if (stream !== process.stderr) setTimeout(() => exit(EXIT.unread), UNREAD_MS);
  });
}

/** What is done within this time says how it ended. */
const UNREAD_MS = 500;

/** Exiting before a pipe has taken everything would lose the end of it. */
function flushed(stream: NodeJS.WriteStream): Promise<void> {
  return new Promise((resolve) => {
    stream.write('', () => resolve());
  });
}

async function main(): Promise<void> {
  // A process that runs out of work before its command has ended is no success.
  process.exitCode = EXIT.error;
  quietOnServerNames(process);
  quietOnClosedPipe(process.stdout);
  quietOnClosedPipe(process.stderr);
  const old = oldNodeText(process.versions.node);
  const code = old === undefined ? await run() : refuse(old);
  await flushed(process.stdout);
  await flushed(process.stderr);
  exit(code);
}

function refuse(why: string): number {
  process.stderr.write(why);
  return EXIT.error;
}

/** What `inspect` decides beside its reading, if this is surely the index of a file. */
function beginIndex([command, subject = '', ...options]: readonly string[]): void {
  if (command !== 'inspect' || subject.startsWith('-')) return;
  if (!options.some((word) => NO_INDEX.test(word))) beginEarly(resolve(subject));
}

const NO_INDEX = /^--(?:at|run|desk|help)\b/;

function run(): Promise<number> {
  const argv = process.argv.slice(2);
  beginIndex(argv);
  return runCli(argv, {
    environment: cliEnvironment(),
    streams: {
      out: (text) => process.stdout.write(text),
      err: (text) => process.stderr.write(text),
    },
  });
}

void main();
