/** Holdfast is loaded as the package that it is: a bundle would lack files that it finds by their place. */
const config = { serverExternalPackages: ['holdfast'] };

// oxlint-disable-next-line import/no-default-export -- Next reads the default export.
export default config;
