/** What gives the tokens of a connector. */
import type { Fetch } from '../bounded-fetch.js';
import type { Sdk, SdkAuth } from '../sdk.js';

export interface Authorization {
  /** As the package takes it; one for each connection. */
  provider(sdk: Sdk): SdkAuth;
  /** Requests of a connection, which prove that a token is this program's, where it is bound to a key. */
  bound(sdk: Sdk, send: Fetch): Fetch;
  /** What a refusal of the server means for its callers; undefined: the error has nothing to do with tokens. */
  refused?(error: unknown, sdk: Sdk): Promise<Error | undefined>;
}
