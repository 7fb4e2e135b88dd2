import type { Principal } from "./principal.ts";

const CHECK_MS = 500;

/** A request in progress, whose token is asked about again. */
interface WatchedRequest {
  readonly principal: Principal;
  /** Admits the request once more; undefined if its token is not valid any more. */
  readonly admitAgain: () => Promise<Principal | undefined>;
  readonly end: () => void;
}

/** Ends requests in progress, such as streams, whose token was revoked, rotated, expired or given another role. */
export class TokenWatch {
  readonly #requests = new Set<WatchedRequest>();
  #timer: NodeJS.Timeout | undefined;
  #isChecking = false;

  /** Watches a request until the returned function is called. */
  add(request: WatchedRequest): () => void {
    if (request.principal.token === undefined) return () => undefined;
    this.#requests.add(request);
    this.#timer ??= setInterval(() => void this.#check(), CHECK_MS).unref();
    return () => {
      this.#requests.delete(request);
      if (this.#requests.size > 0) return;
      clearInterval(this.#timer);
      this.#timer = undefined;
    };
  }

  async #check(): Promise<void> {
    if (this.#isChecking) return;
    this.#isChecking = true;
    try {
      // Requests with the same secret have the same answer.
      const known = new Map<string, Promise<Principal | undefined>>();
      for (const request of [...this.#requests]) {
        const { principal, admitAgain, end } = request;
        const secret = principal.formerIds.join();
        const asking = known.get(secret) ?? admitAgain();
        known.set(secret, asking);
        const now = await asking;
        if (this.#requests.has(request) && (now?.id !== principal.id || now.role !== principal.role)) end();
      }
    } finally {
      this.#isChecking = false;
    }
  }
}
