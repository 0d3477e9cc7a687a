/**
 * Programs that a program has started: `npx` and shells end without the server that they wrap.
 * Invariant: only what was below the program is ended, never another one that has got its number since.
 */
import { readFile } from 'node:fs/promises';

interface Program {
  readonly pid: number;
  /** Since the machine began. */
  readonly startedAt: string;
}

/** All below a program, so far as the system tells (Linux does). */
export async function programsBelow(pid: number): Promise<readonly Program[]> {
  const text = await readFile(`/proc/${pid}/task/${pid}/children`, 'utf8').catch(() => '');
  const children = text.split(' ').filter((one) => one !== '');
  const found = await Promise.all(
    children.map(async (one) => {
      const child = { pid: Number(one), startedAt: await startOf(one) };
      return [child, ...(await programsBelow(child.pid))];
    }),
  );
  return found.flat();
}

/** Those that are still there. */
export async function endPrograms(programs: readonly Program[]): Promise<void> {
  for (const { pid, startedAt } of programs) {
    if (startedAt === '' || (await startOf(pid)) !== startedAt) continue;
    try {
      process.kill(pid, 'SIGKILL');
    } catch {
      // It has ended meanwhile.
    }
  }
}

/** The name of a program, which stands before, may have any character. */
async function startOf(pid: number | string): Promise<string> {
  const text = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '');
  return text.slice(text.lastIndexOf(')') + 2).split(' ')[19] ?? '';
}
