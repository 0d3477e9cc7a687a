/** Puts the builder of queries, in one file with its types and its license, into a folder of the compiled store. */
export function bundleQueryBuilder(store: string): void;
