/** The package of the protocol, loaded when a server is started: nothing else of Holdfast pays for it. */
export function loadSdk() {
  return import('@modelcontextprotocol/server');
}

export function loadStdio() {
  return import('@modelcontextprotocol/server/stdio');
}

export type Sdk = Awaited<ReturnType<typeof loadSdk>>;
export type Server = InstanceType<Sdk['Server']>;
export type McpHandler = ReturnType<Sdk['createMcpHandler']>;
export type AuthInfo = NonNullable<NonNullable<Parameters<McpHandler['fetch']>[1]>['authInfo']>;
