/** A token of the configuration: its secret stands in an environment variable, or only its SHA-256 is known. */
export interface TokenConfig {
  readonly name: string;
  readonly env?: string | undefined;
  readonly sha256?: string | undefined;
}

/** What the door reads of the gateway's configuration. */
export interface DoorConfig {
  readonly host: string;
  readonly tokens: readonly TokenConfig[];
  readonly allowedHosts: readonly string[];
  readonly allowedOrigins: readonly string[];
  readonly limits: DoorLimits;
}

/** Bounds of what one connection may send, and how slowly. */
export interface DoorLimits {
  readonly maxBodyBytes: number;
  readonly maxHeaderBytes: number;
  readonly headersMs: number;
  readonly bodyMs: number;
  readonly keepAliveMs: number;
  readonly maxConnections: number;
}
