/** One thing that doctor looked at, and how to mend it. */
export interface Check {
  readonly name: string;
  readonly status: 'ok' | 'warning' | 'broken' | 'not_checked';
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

/** Something that can only be looked at once `first` is well, which it is not. */
export function notChecked(name: string, first: string): Check {
  return { name, status: 'not_checked', found: `not checked, because ${first} is broken` };
}

export interface Look {
  readonly name: string;
  readonly look: () => Promise<readonly Check[]>;
  /** Checks within `look` that need what `name` stands for. */
  readonly needing?: readonly string[];
}

/** A check that failed in a way nobody foresaw is a finding too, and says nothing of what it was needed for. */
export async function guarded({ name, look, needing = [] }: Look): Promise<readonly Check[]> {
  try {
    return await look();
  } catch (error) {
    const { message, hint } = error as { readonly message?: string; readonly hint?: string };
    return [
      broken(name, message ?? String(error), hint ?? 'Run the command that fails by itself.'),
      ...needing.map((each) => notChecked(each, `the ${name}`)),
    ];
  }
}
