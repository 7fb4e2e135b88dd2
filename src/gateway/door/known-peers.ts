import type { Socket } from "node:net";
import { findPeerUser, type PeerUser } from "./peer-user.ts";

/** The users at the other ends of connections, each looked up once. */
export class KnownPeers {
  readonly #users = new WeakMap<Socket, PeerUser | Promise<PeerUser>>();

  /** Returns no promise once the user of a connection is known. */
  find(socket: Socket): PeerUser | Promise<PeerUser> {
    const known = this.#users.get(socket);
    if (known) return known;
    const finding = findPeerUser(socket);
    this.#users.set(socket, finding);
    const keep = (user: PeerUser) => this.#users.set(socket, user);
    // The request that waits for it reports a failure.
    void finding.then(keep, () => this.#users.delete(socket));
    return finding;
  }
}
