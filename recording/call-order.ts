/** Entries about calls in the order of the calls: in which order parallel calls end is no decision. */

/** Stretches of events about calls, by call; everything else keeps its place. */
export function inCallOrder<Entry>(heard: (entry: Entry) => void) {
  let stretch: { readonly entry: Entry; readonly call: string }[] = [];
  const flush = (): void => {
    const byCall = stretch.toSorted((one, other) => numberOf(one.call) - numberOf(other.call));
    stretch = [];
    for (const { entry } of byCall) heard(entry);
  };
  return {
    flush,
    entry(entry: Entry, call: string | undefined): void {
      if (call !== undefined) return void stretch.push({ entry, call });
      flush();
      heard(entry);
    },
  };
}

function numberOf(call: string): number {
  const [reply = '0', index = '0'] = call.split('.');
  return Number(reply) * 10_000 + Number(index);
}
