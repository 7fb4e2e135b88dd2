/** A claim to be the only one who does something, for a limited time. */
export interface Lease {
  readonly name: string;
  readonly owner: string;
  /** Milliseconds since 1970. */
  readonly expiresAt: number;
}

/** Claims that hold across processes. Who dies without letting go loses his when its time is over. */
export interface LeaseStore {
  /** Claims a name, or keeps it claimed: undefined if it is now the caller's, else the lease that is in the way. */
  claim(lease: Lease, now: number): Promise<Lease | undefined>;
  /** Lets a name go; nothing happens if it is not the caller's. */
  release(name: string, owner: string): Promise<void>;
  /** The lease of a name, expired or not. */
  get(name: string): Promise<Lease | undefined>;
}
