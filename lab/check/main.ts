/**
 * All static checks, in two lines beside each other: the longest has one thread, and a line of its own. Each is shown when
 * it has ended; every one is run, whatever the others say.
 */
import { spawn } from 'node:child_process';

/** Scripts of package.json. */
const LINES = [['check:types', 'check:lint', 'floors', 'check:unused'], ['check:format']] as const;
const MS_PER_S = 1_000;

/** Whether it has nothing to object to. */
async function isClean(script: string): Promise<boolean> {
  const began = performance.now();
  const child = spawn('npm', ['run', '--silent', script], {
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let said = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => (said += text));
  }
  const code = await new Promise<number | null>((resolve) => {
    child.once('error', () => resolve(null));
    child.once('close', resolve);
  });
  const seconds = Math.round((performance.now() - began) / MS_PER_S);
  console.log(`${code === 0 ? 'ok' : 'FAILED'}: ${script} (${seconds} s)`);
  if (said.trim() !== '') console.log(said.trimEnd());
  return code === 0;
}

async function areClean(scripts: readonly string[]): Promise<boolean> {
  let clean = true;
  for (const script of scripts) clean = (await isClean(script)) && clean;
  return clean;
}

void Promise.all(LINES.map(areClean)).then((lines) => {
  process.exitCode = lines.every(Boolean) ? 0 : 1;
});
