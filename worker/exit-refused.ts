/** Code that ends the process while it is loaded is an error of that code, which has a place, and no end without a word. */

const LINE_AT_MOST = 80;

let loading = 0;
let exit: typeof process.exit | undefined;

/** `process.exit` throws until `load` has ended. */
export async function withExitRefused<T>(load: () => Promise<T>): Promise<T> {
  loading += 1;
  if (exit === undefined) {
    exit = process.exit;
    process.exit = refuse;
  }
  try {
    return await load();
  } finally {
    loading -= 1;
    if (loading === 0) {
      process.exit = exit;
      exit = undefined;
    }
  }
}

function refuse(code?: number | string | null): never {
  const shown = String(code ?? '').slice(0, LINE_AT_MOST);
  throw new Error(`process.exit(${shown}) was called at the top of a module.`);
}
