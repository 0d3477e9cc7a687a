/** What Holdfast runs on: one place for the versions and for what every namespace must have. */

/** Version of the Temporal CLI that is downloaded or built; equals the pin in go.mod. */
export const CLI_VERSION = '1.8.2';
/** Version of the server inside that CLI. */
export const SERVER_VERSION = '1.31.2';
/** Oldest CLI and server accepted from the machine. */
export const CLI_VERSION_MIN = '1.8.0';
export const SERVER_VERSION_MIN = '1.31.0';
/** Oldest Go that builds the pinned CLI; equals the directive in go.mod. */
export const GO_VERSION_MIN = '1.26.8';

export const NAMESPACE = 'default';
/** 30 days; start-dev alone would forget closed runs after 24 hours. */
export const NAMESPACE_RETENTION = '720h';

/** Search attributes that runs are listed by, with their Temporal types. */
export const SEARCH_ATTRIBUTES: Readonly<Record<string, 'Keyword'>> = {
  HoldfastStatus: 'Keyword',
  HoldfastAgent: 'Keyword',
  HoldfastTenant: 'Keyword',
};

/** Environment variable that names the program of Temporal's test server, whose time can be moved. */
export const TIME_SKIPPING_VARIABLE = 'HOLDFAST_TIME_SKIPPING_SERVER';
