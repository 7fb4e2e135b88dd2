import { setImmediate } from "node:timers/promises";
import { Worker } from "node:worker_threads";
import { resolveModuleFile } from "../../base/package-files.ts";
import { throwIfAborted } from "../../model/errors.ts";
import { type RedactedText, redactSecrets } from "../../model/secrets/redact-secrets.ts";
import { Semaphore } from "../door/semaphore.ts";
import type { RedactRequest, WorkerReply } from "./redact-worker.ts";

/** Idle time after which the worker is terminated. */
const IDLE_MS = 5_000;

/** Redacts texts in a worker thread, one list at a time. The worker starts with the first list. */
export class RedactionThread {
  readonly #turnstile = new Semaphore(1);
  #worker: Worker | undefined;
  #idle: NodeJS.Timeout | undefined;

  /** Redacts texts in order; on this thread if the worker dies. Throws if `signal` aborts. */
  async redact(texts: readonly string[], signal?: AbortSignal): Promise<readonly RedactedText[]> {
    const place = this.#turnstile.createPermit();
    try {
      await place.acquire();
      throwIfAborted(signal);
      const reply = await this.#ask(texts, signal);
      throwIfAborted(signal);
      return reply ? fromReply(texts, reply) : redactHere(texts, signal);
    } finally {
      place.release();
    }
  }

  /** Terminates the worker. A later call starts another. */
  async close(): Promise<void> {
    clearTimeout(this.#idle);
    const worker = this.#worker;
    this.#worker = undefined;
    await worker?.terminate();
  }

  /** The reply of the worker; undefined if it died or was terminated. */
  async #ask(texts: RedactRequest, signal: AbortSignal | undefined): Promise<WorkerReply | undefined> {
    clearTimeout(this.#idle);
    this.#worker ??= startWorker();
    const worker = this.#worker;
    const listening = new AbortController();
    // A worker cannot be interrupted while it redacts a text, only terminated.
    signal?.addEventListener("abort", () => void this.close(), { signal: listening.signal });
    const reply = await new Promise<WorkerReply | undefined>((resolve) => {
      const onReply = (reply: WorkerReply) => resolve(reply);
      const onEnd = () => {
        if (this.#worker === worker) this.#worker = undefined;
        resolve(undefined);
      };
      worker.on("message", onReply).on("error", onEnd).on("exit", onEnd);
      listening.signal.addEventListener("abort", () =>
        worker.off("message", onReply).off("error", onEnd).off("exit", onEnd),
      );
      // The worker keeps the process alive only while a request waits for it.
      worker.ref();
      worker.postMessage(texts);
    });
    listening.abort();
    worker.unref();
    this.#idle = setTimeout(() => void this.close(), IDLE_MS).unref();
    return reply;
  }
}

function startWorker(): Worker {
  return new Worker(resolveModuleFile("gateway/redact/redact-worker"));
}

function fromReply(texts: readonly string[], reply: WorkerReply): readonly RedactedText[] {
  const redacted: RedactedText[] = texts.map((text) => ({ text, found: [] }));
  for (const [index, one] of reply) redacted[index] = one;
  return redacted;
}

/** Redacts texts on this thread, and yields to other work after each text. */
async function redactHere(
  texts: readonly string[],
  signal: AbortSignal | undefined,
): Promise<readonly RedactedText[]> {
  const redacted: RedactedText[] = [];
  for (const text of texts) {
    redacted.push(redactSecrets(text));
    await setImmediate();
    throwIfAborted(signal);
  }
  return redacted;
}
