/** Requests that were recorded beside ours for the same conversation: equal, but for differences that have a reason. */
import type { Json } from '../../core/json/json.js';
import type { Fields } from './cassettes.js';

export interface Difference {
  readonly name: string;
  /** The recorded request as ours is, in this one respect. */
  readonly adapt: (recorded: Fields, ours: Fields) => Fields;
}

/** The recorded request with every difference made up for; notes which of them there were. */
export function adapted(
  recorded: Fields,
  ours: Fields,
  {
    differences,
    used,
  }: { readonly differences: readonly Difference[]; readonly used: Set<string> },
): Fields {
  return differences.reduce((before, { name, adapt }) => {
    const after = json(adapt(before, ours));
    if (JSON.stringify(after) !== JSON.stringify(before)) used.add(name);
    return after;
  }, recorded);
}

export function without(...keys: readonly string[]): Difference['adapt'] {
  return (recorded) =>
    Object.fromEntries(Object.entries(recorded).filter(([key]) => !keys.includes(key)));
}

export function sameAsOurs(...keys: readonly string[]): Difference['adapt'] {
  return (recorded, ours) => ({
    ...recorded,
    ...Object.fromEntries(keys.flatMap((key) => (key in ours ? [[key, ours[key] ?? null]] : []))),
  });
}

export function perMessage(adapt: (message: Fields) => Fields): Difference['adapt'] {
  return perItem('messages', adapt);
}

export function perItem(key: string, adapt: (item: Fields) => Fields): Difference['adapt'] {
  return (recorded) => {
    const items = recorded[key];
    return Array.isArray(items)
      ? { ...recorded, [key]: items.map((item: Json) => adapt(fields(item))) }
      : recorded;
  };
}

export function json(value: object): Fields {
  return JSON.parse(JSON.stringify(value)) as Fields;
}

export function fields(value: Json | undefined): Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
    ? (value as Fields)
    : {};
}

export function list(value: Json | undefined): readonly Json[] {
  return Array.isArray(value) ? (value as readonly Json[]) : [];
}

export function text(value: Json | undefined): string {
  return typeof value === 'string' ? value : '';
}
