/** An exclusive claim for a limited time. */
export interface Lease {
  readonly name: string;
  readonly owner: string;
  /** Milliseconds since 1970. */
  readonly expiresAt: number;
}

/** Claims that hold across processes. The lease of a dead owner expires. */
export interface LeaseStore {
  /** Claims or renews a lease: returns undefined on success, else the conflicting lease. */
  claim(lease: Lease, now: number): Promise<Lease | undefined>;
  /** Releases a lease; does nothing if the caller does not own it. */
  release(name: string, owner: string): Promise<void>;
  /** The lease of a name, even if expired. */
  get(name: string): Promise<Lease | undefined>;
  /** The leases whose names begin with this, even if expired. */
  list(prefix: string): Promise<readonly Lease[]>;
  /** Removes the leases that ended before a time and returns their number. */
  dropExpired(before: number): Promise<number>;
}
