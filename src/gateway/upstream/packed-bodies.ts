/** Status codes with which servers refuse a compression that they do not know, by that reason or as broken JSON. */
const REFUSAL_STATUSES: ReadonlySet<number> = new Set([400, 415, 422]);

/** Learns which upstreams accept compressed bodies. */
export class PackedBodies {
  /** One entry for each upstream of the configuration that has received a compressed body. */
  readonly #accepts = new Map<string, boolean>();

  /** True unless the upstream is known to refuse compressed bodies. */
  mayAccept(upstream: string): boolean {
    return this.#accepts.get(upstream) ?? true;
  }

  /** Records the reply to a compressed body; true if the body must be sent again without compression. */
  mustUnpack(upstream: string, status: number): boolean {
    if (status < 300) this.#accepts.set(upstream, true);
    return !this.#accepts.has(upstream) && REFUSAL_STATUSES.has(status);
  }

  /** Records the reply to a body that was refused while it was compressed. */
  recordUnpacked(upstream: string, status: number): void {
    if (status < 300) this.#accepts.set(upstream, false);
  }
}
