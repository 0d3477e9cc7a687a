/** What follows from an object that nobody changes: each request of a conversation has the messages of the one before. */

/** `reckon`, asked once for each object while somebody holds the object. */
export function once<Of extends object, T>(reckon: (of: Of) => T): (of: Of) => T {
  const known = new WeakMap<Of, { readonly value: T }>();
  return (of) => {
    const before = known.get(of);
    if (before !== undefined) return before.value;
    const value = reckon(of);
    known.set(of, { value });
    return value;
  };
}
