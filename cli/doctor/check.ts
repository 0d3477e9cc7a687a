/** One thing that doctor looked at, and how to mend it. */
export interface Check {
  readonly name: string;
  readonly status: 'ok' | 'warning' | 'broken';
  readonly found: string;
  /** What to do; absent when all is well. */
  readonly mend?: string;
}

export function ok(name: string, found: string): Check {
  return { name, status: 'ok', found };
}

export function warning(name: string, found: string, mend: string): Check {
  return { name, status: 'warning', found, mend };
}

export function broken(name: string, found: string, mend: string): Check {
  return { name, status: 'broken', found, mend };
}

/** A check that failed in a way nobody foresaw is a finding too. */
export async function guarded(
  name: string,
  look: () => Promise<readonly Check[]>,
): Promise<readonly Check[]> {
  try {
    return await look();
  } catch (error) {
    const { message, hint } = error as { readonly message?: string; readonly hint?: string };
    return [
      broken(name, message ?? String(error), hint ?? 'Run the command that fails by itself.'),
    ];
  }
}
