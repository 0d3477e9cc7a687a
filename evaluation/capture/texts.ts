/** Texts of a bundle put back into the place of their references. */
import { isBlobRef, type Json, type StoredText } from '../../core/json/json.js';
import type { Bundle } from '../../replay/bundle.js';
import { refused } from './refused.js';

export class Texts {
  constructor(private readonly blobs: Bundle['blobs']) {}

  /** Errors: `CaptureRefused` for a text that the bundle lacks. */
  text(stored: StoredText | { readonly $blob: string } | string): string {
    if (typeof stored === 'string') return stored;
    if (!('$blob' in stored)) return stored.text;
    const text = this.held(stored.$blob);
    if (text === undefined) throw refused(`the bundle lacks the text ${stored.$blob}`);
    return text;
  }

  /** Undefined: the bundle has none under this hash. */
  held(hash: string): string | undefined {
    return Object.hasOwn(this.blobs, hash) ? this.blobs[hash] : undefined;
  }

  /** A value with every string that was spilled. */
  value(value: Json): Json {
    if (typeof value !== 'object' || value === null) return value;
    if (Array.isArray(value)) return value.map((inner: Json) => this.value(inner));
    if (isBlobRef(value)) return this.text(value);
    return Object.fromEntries(
      Object.entries(value).map(([key, inner]) => [key, this.value(inner as Json)]),
    );
  }
}
