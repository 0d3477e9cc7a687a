/** Edits of a text: each part that is to be replaced stands in it exactly once, unless all of its places are meant. */

export interface TextEdit {
  readonly find: string;
  readonly replace: string;
  /** Every place, at least one; default: there is exactly one. */
  readonly all?: boolean;
}

export type Edited =
  | { readonly ok: true; readonly text: string; readonly places: number }
  /** Nothing is edited. */
  | { readonly ok: false; readonly defect: string };

/** In order: a later edit sees what an earlier one has made. */
export function editText(before: string, edits: readonly TextEdit[]): Edited {
  let text = before;
  let places = 0;
  for (const [index, { find, replace, all = false }] of edits.entries()) {
    const parts = text.split(find);
    const found = parts.length - 1;
    if (found === 0 || (found > 1 && !all)) {
      const times = found === 0 ? 'nowhere' : `${found} times, not once`;
      return { ok: false, defect: `The text of edit ${index + 1} stands ${times} in the file.` };
    }
    text = parts.join(replace);
    places += found;
  }
  return { ok: true, text, places };
}
