/** Bundles the console's page of one folder into another; throws when the page does not compile. */
export function buildPage(from: string, to: string): void;
