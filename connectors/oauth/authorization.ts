/** What gives the tokens of a connector. */
import type { Sdk, SdkAuth } from '../sdk.js';

export interface Authorization {
  /** As the package takes it; one for each connection. */
  provider(sdk: Sdk): SdkAuth;
  /** What a refusal of the server means for its callers; undefined: the error has nothing to do with tokens. */
  refused?(error: unknown, sdk: Sdk): Promise<Error | undefined>;
}
