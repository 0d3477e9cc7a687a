/** The tables of connectors (connector-tools.ts, connector-tokens.ts). */
export interface ConnectorToolTable {
  readonly tenant: string;
  readonly name: string;
  readonly version: string;
  readonly connector: string;
  /** sha256 of what the server says of it. */
  readonly hash: string;
  /** What a run gets of it, as JSON. */
  readonly pinned_json: string;
  readonly seen_at: number;
  /** null: nobody has approved it, and no run gets it. */
  readonly approved_at: number | null;
  /** null: it was there when the connector was first seen. */
  readonly approved_by: string | null;
}

export interface ConnectorTokenTable {
  readonly tenant: string;
  readonly connector: string;
  /** sha256 of the address that the token is for. */
  readonly server: string;
  readonly version: number;
  readonly state: string;
  readonly wanted_json: string;
  /** null, as `sealed` is: nobody has logged in. */
  readonly key_id: string | null;
  readonly sealed: string | null;
  /** null, as `lease_until` is: nobody is getting the next token. */
  readonly lease: string | null;
  readonly lease_until: number | null;
  readonly logged_in_by: string | null;
  readonly logged_in_at: number | null;
  readonly updated_at: number;
}

export interface ConnectorLoginTable {
  readonly tenant: string;
  readonly id: string;
  readonly connector: string;
  readonly begun_by: string;
  readonly key_id: string;
  readonly sealed: string;
  readonly expires_at: number;
}
