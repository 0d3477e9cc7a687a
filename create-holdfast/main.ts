#!/usr/bin/env node
/** The command `create-holdfast`, which `npm create holdfast` runs. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { create } from './create.js';
import { oldNodeText } from './old-node.js';

const stop = new AbortController();
process.once('SIGINT', () => stop.abort());
process.once('SIGTERM', () => stop.abort());

/** Of the package's own package.json, in the sources and in the package. */
function versionHere(): string {
  const text = readFileSync(join(__dirname, '..', 'package.json'), 'utf8');
  return (JSON.parse(text) as { readonly version: string }).version;
}

const { stdin, stdout, stderr } = process;
const { npm_config_user_agent: userAgent } = process.env;
// Somebody closed the pipe (`| head`); the files are written all the same.
for (const stream of [stdout, stderr]) {
  stream.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') throw error;
  });
}
const old = oldNodeText(process.versions.node);
if (old !== undefined) {
  stderr.write(old);
  process.exitCode = 1;
} else {
  void create(process.argv.slice(2), {
    here: process.cwd(),
    version: versionHere(),
    ...(userAgent !== undefined && { userAgent }),
    out: (text) => stdout.write(text),
    err: (text) => stderr.write(text),
    ...(stdin.isTTY && stdout.isTTY && { terminal: { input: stdin, output: stdout } }),
    signal: stop.signal,
  }).then((code) => {
    process.exitCode = code;
  });
}
