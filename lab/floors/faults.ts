/** What is wrong with the imports of a tree, a sentence each. */
import { roomOf } from './house.js';
import { circlesIn, type Imports } from './imports.js';

export function faultsOf(imports: Imports): readonly string[] {
  const circles = circlesIn(imports).map(
    (circle) => `These files import each other: ${circle.join(', ')}.`,
  );
  return [...climbsIn(imports), ...circles];
}

/** Imports of a room that is above, or beside. */
function climbsIn(imports: Imports): readonly string[] {
  return [...imports].flatMap(([file, targets]) =>
    targets.flatMap((target) => {
      const from = roomOf(file);
      const to = roomOf(target);
      if (from === undefined || to === undefined || from.name === to.name) return [];
      if (to.floor < from.floor) return [];
      const where = to.floor === from.floor ? 'beside' : 'above';
      return [`${file} imports ${target}: ${to.name} is ${where} ${from.name}.`];
    }),
  );
}
