/** What a run learns of its connectors when it is opened (G70). */
import type { WarningCode } from './warning.js';

export interface ConnectorState {
  readonly name: string;
  readonly status: 'connected' | 'failed';
  /** Tools of it that the run may be offered. */
  readonly tools: number;
  readonly era?: 'modern' | 'legacy';
  /** `name@version`, as the server says. */
  readonly server?: string;
}

export interface ConnectorReport {
  readonly connectors: readonly ConnectorState[];
  readonly warnings: readonly { readonly code: WarningCode; readonly message: string }[];
  /** A required connector could not be reached: the run ends before its first request. */
  readonly missing?: { readonly connector: string; readonly message: string };
}
