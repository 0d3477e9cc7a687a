/** Addresses from elsewhere may lead to the web, and do nothing. */
export function webAddress(address: string | undefined): string | undefined {
  return address !== undefined && /^https?:\/\//i.test(address) ? address : undefined;
}
