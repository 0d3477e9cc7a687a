/** Code that ends the process while it is loaded is an error of that code, which has a place, and no end without a word. */

const CODE_CHARS_MAX = 80;

let loading = 0;
let exit = process.exit;

/** `process.exit` throws until `load` has ended. */
export async function withExitRefused<T>(load: () => Promise<T>): Promise<T> {
  if (loading === 0 && process.exit !== refuse) exit = process.exit;
  loading += 1;
  process.exit = refuse;
  try {
    return await load();
  } finally {
    loading -= 1;
    // Code that was loaded may have put another one in place.
    if (loading === 0 && process.exit === refuse) process.exit = exit;
  }
}

/** Whoever has taken it while code was loaded may call it later. */
function refuse(code?: number | string | null): never {
  if (loading === 0) exit(code);
  const shown = String(code ?? '').slice(0, CODE_CHARS_MAX);
  throw new Error(`process.exit(${shown}) was called at the top of a module.`);
}
