import type { PersonRole } from "../../team-entry.ts";

/** A token in the configuration: its secret is in an environment variable, or only its SHA-256 is known. */
export interface DoorToken {
  readonly name: string;
  readonly env?: string | undefined;
  readonly sha256?: string | undefined;
  readonly role?: PersonRole | undefined;
}

/** The part of the gateway's configuration that the door uses. */
export interface DoorConfig {
  readonly host: string;
  readonly tokens: readonly DoorToken[];
  /** True if only people are admitted, even while the store has none. */
  readonly team: boolean;
  readonly allowedHosts: readonly string[];
  readonly allowedOrigins: readonly string[];
  readonly limits: DoorLimits;
}

/** Limits on the size and duration of a client's requests. */
export interface DoorLimits {
  readonly maxBodyBytes: number;
  readonly maxHeaderBytes: number;
  readonly headersMs: number;
  readonly bodyMs: number;
  readonly keepAliveMs: number;
  readonly maxConnections: number;
  readonly maxPersonRequests: number;
  readonly maxPersonStreams: number;
  readonly maxPersonBytes: number;
}
