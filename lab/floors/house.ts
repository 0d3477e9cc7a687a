/**
 * The floors of the house, the ground first. A file imports, types counted, from its own room and from rooms of lower
 * floors; rooms of one floor know nothing of each other.
 */
export const FLOORS: readonly (readonly string[])[] = [
  // Decisions: replayed, so that no change of what they decide goes without a name.
  ['core/json', 'core/controls'],
  ['core/state'],
  ['core/dataflow', 'core/messages', 'core/step'],
  ['core/hooks', 'core/limits', 'core/permission'],
  ['core/ask'],
  ['core/money'],
  ['core/context', 'core/gates'],
  ['core/call', 'core/session', 'core/turn'],
  ['core/loop', 'core/goal'],
  // Workflows are replayed; what is pure is not, and may change freely.
  ['workflows', 'pure'],
  ['sandbox', 'attachments'],
  ['authoring', 'providers', 'store', 'recording'],
  ['connectors'],
  ['activities', 'connection', 'devserver', 'create-holdfast'],
  ['client', 'worker'],
  ['replay'],
  ['console'],
  ['http'],
  ['testing'],
  ['evaluation'],
  ['cli'],
  ['index.ts'],
  ['examples', 'lab'],
];

/** Of a file by its path from the root; undefined: it is in no room. */
export function roomOf(
  file: string,
): { readonly name: string; readonly floor: number } | undefined {
  for (const [floor, rooms] of FLOORS.entries()) {
    const name = rooms.find((room) => file === room || file.startsWith(`${room}/`));
    if (name !== undefined) return { name, floor };
  }
  return undefined;
}
