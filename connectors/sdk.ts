/** The vendor's package, which is loaded when the first connector is used: most projects have none. */

export async function loadSdk() {
  return import('@modelcontextprotocol/client');
}

export async function loadStdio() {
  return import('@modelcontextprotocol/client/stdio');
}

const importValidator = () => import('@modelcontextprotocol/client/validators/ajv');
let validator: ReturnType<typeof importValidator> | undefined;

/** Loaded once: whoever waits for it again waits for no file. */
export function loadValidator(): ReturnType<typeof importValidator> {
  validator ??= importValidator();
  return validator;
}

export type Sdk = Awaited<ReturnType<typeof loadSdk>>;
export type SdkClient = InstanceType<Sdk['Client']>;
export type SdkTransport = Parameters<SdkClient['connect']>[0];
export type SdkTool = Awaited<ReturnType<SdkClient['listTools']>>['tools'][number];
/** A refused request (401). */
export interface SdkChallenge {
  readonly response: Response;
}
export type SdkAuth = NonNullable<
  NonNullable<ConstructorParameters<Sdk['StreamableHTTPClientTransport']>[1]>['authProvider']
>;
export type SdkOAuthTokens = Awaited<ReturnType<Sdk['refreshAuthorization']>>;
export type SdkServerMetadata = NonNullable<
  Awaited<ReturnType<Sdk['discoverAuthorizationServerMetadata']>>
>;
export type SdkResourceMetadata = Awaited<
  ReturnType<Sdk['discoverOAuthProtectedResourceMetadata']>
>;
/** What asks for a token, as the package takes it. */
export type SdkTokenProvider = Parameters<Sdk['fetchToken']>[0];
export type SdkClientAuthentication = NonNullable<SdkTokenProvider['addClientAuthentication']>;
export type SdkDpopSession = Awaited<ReturnType<Sdk['DpopSession']['create']>>;
