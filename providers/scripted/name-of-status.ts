/** What a vendor calls an error of this status: the table that its errors are read by, the other way round. */
export function nameOfStatus(
  table: ReadonlyMap<string, number>,
  status: number,
): string | undefined {
  return [...table].find(([, one]) => one === status)?.[0];
}
