import { setImmediate } from "node:timers/promises";
import { Worker } from "node:worker_threads";
import type { Json, MessageInput, PartInput } from "../../../kernel/index.ts";
import { BoundedMap } from "../../../model/base/caches.ts";
import { computeDigest } from "../../../model/base/digest.ts";
import { resolveModuleFile } from "../../../model/base/package-files.ts";
import { SerialQueue } from "../../../model/base/serial-queue.ts";
import { throwIfAborted } from "../../../model/errors.ts";
import { findAssigned } from "../../../model/secrets/find-assigned.ts";
import { REDACTION_MARK } from "../../../model/secrets/found-secret.ts";
import { type RedactedText, redactSecrets } from "../../../model/secrets/redact-secrets.ts";
import type { RedactRequest, WorkerReply } from "./redact-worker.ts";

/** If the new texts of a request have more characters in total, a worker redacts them. */
const MAX_INLINE_CHARACTERS = 262_144;
/** Minimum length of a text whose result is cached; redacting a shorter text is about as fast as hashing it. */
const MIN_KEPT_CHARACTERS = 16_384;
/** Maximum characters of cached texts; a text without secrets counts as `CLEAN_WEIGHT`. */
const MAX_KEPT_CHARACTERS = 33_554_432;
const CLEAN_WEIGHT = 100;
const BYTES_PER_CHARACTER = 2;

/** Removes secrets from messages; large ones are redacted in a worker, so that other requests do not wait. */
export class Redactor {
  readonly #onFound: (kind: string) => void;
  readonly #thread = new RedactionThread();
  /** Messages that `prepare` has redacted, kept as long as their request. */
  readonly #prepared = new WeakMap<MessageInput, MessageInput>();
  /** Cache of results by the digest of a text; `text` is undefined for a text without secrets. */
  readonly #kept = new BoundedMap<string, { readonly text?: string }>({
    max: MAX_KEPT_CHARACTERS,
    weigh: ({ text }) => text?.length ?? CLEAN_WEIGHT,
  });

  /** `onFound` is called with the kind of each removed secret; not called again for a cached text. */
  constructor(onFound: (kind: string) => void) {
    this.#onFound = onFound;
  }

  /** The message without its secrets. */
  redact(message: MessageInput): MessageInput {
    return this.#prepared.get(message) ?? this.#redactMessage(message, (text) => this.#redactText(text));
  }

  /**
   * Redacts messages in the worker if their new texts are large; `redact` then returns them. Rejects if aborted.
   */
  async prepare(messages: readonly MessageInput[], signal?: AbortSignal): Promise<void> {
    const texts = textsOf(messages).filter((text) => this.#findKept(text) === undefined);
    const characters = texts.reduce((sum, text) => sum + text.length, 0);
    if (characters <= MAX_INLINE_CHARACTERS) return;
    const redacted = await this.#thread.redact(texts, signal);
    const results = new Map(redacted.map((one, index) => [texts[index] as string, one]));
    for (const [text, one] of results) this.#keep(text, one);
    const redactText = (text: string) => results.get(text) ?? this.#redactText(text);
    for (const message of messages) this.#prepared.set(message, this.#redactMessage(message, redactText));
  }

  /** Approximate bytes of cached texts. */
  get cachedBytes(): number {
    return this.#kept.weight * BYTES_PER_CHARACTER;
  }

  /** Number of cached texts. */
  get cachedTexts(): number {
    return this.#kept.size;
  }

  /** Empties the cache; the texts are redacted again when they come again. */
  dropCache(): void {
    this.#kept.clear();
  }

  /** Terminates the worker. */
  close(): Promise<void> {
    return this.#thread.close();
  }

  #redactMessage(message: MessageInput, redactText: (text: string) => RedactedText): MessageInput {
    const { message: clean, found } = redactInput(message, redactText);
    for (const kind of found) this.#onFound(kind);
    return clean;
  }

  #redactText(text: string): RedactedText {
    const kept = this.#findKept(text);
    if (kept) return kept;
    const redacted = redactSecrets(text);
    this.#keep(text, redacted);
    return redacted;
  }

  #findKept(text: string): RedactedText | undefined {
    if (text.length < MIN_KEPT_CHARACTERS) return undefined;
    const kept = this.#kept.use(computeDigest(text));
    return kept && { text: kept.text ?? text, found: [] };
  }

  #keep(text: string, { text: clean, found }: RedactedText): void {
    if (text.length < MIN_KEPT_CHARACTERS) return;
    this.#kept.set(computeDigest(text), found.length === 0 ? {} : { text: clean });
  }
}

/** The distinct texts of messages that redaction searches. */
function textsOf(messages: readonly MessageInput[]): readonly string[] {
  const texts = new Set<string>();
  for (const message of messages)
    redactInput(message, (text) => {
      texts.add(text);
      return { text, found: [] };
    });
  return [...texts];
}

/** A message without its secrets. */
interface RedactedInput {
  readonly message: MessageInput;
  /** The kind of each removed secret. */
  readonly found: readonly string[];
}

/**
 * Removes secrets from all text of a message: text, reasoning, tool inputs and outputs, foreign parts and `meta`. Bytes
 * of media and signatures of providers stay unchanged; a message without secrets is returned as the same object. A
 * secret that is split across two parts is not found.
 */
export function redactInput(
  message: MessageInput,
  redactText: (text: string) => RedactedText = redactSecrets,
): RedactedInput {
  const found: string[] = [];
  let isChanged = false;
  const text = (value: string): string => {
    const redacted = redactText(value);
    for (const kind of redacted.found) found.push(kind);
    if (redacted.text !== value) isChanged = true;
    return redacted.text;
  };
  const clean: MessageInput = {
    ...message,
    ...(message.text === undefined ? {} : { text: text(message.text) }),
    ...(message.parts === undefined ? {} : { parts: message.parts.map((part) => redactPart(part, text)) }),
    ...(message.meta === undefined ? {} : { meta: redactFields(message.meta, text) }),
  };
  return { message: isChanged ? clean : message, found };
}

type RedactText = (value: string) => string;

function redactPart(part: PartInput, text: RedactText): PartInput {
  switch (part.type) {
    case "text":
    case "reasoning":
      return { ...part, text: text(part.text) };
    case "tool-call":
      return { ...part, input: redactJson(part.input, text) };
    case "raw":
      return { ...part, value: redactJson(part.value, text) };
    case "blob":
      return part.preview === undefined ? part : { ...part, preview: text(part.preview) };
    case "data":
      return part;
    case "tool-result":
      return { ...part, output: redactOutput(part.output, text) };
  }
}

type Output = Extract<PartInput, { type: "tool-result" }>["output"];

function redactOutput(output: Output, text: RedactText): Output {
  if (typeof output === "string") return text(output);
  return output.map((part) => redactPart(part, text) as (typeof output)[number]);
}

function redactJson(value: Json, text: RedactText, name = ""): Json {
  if (typeof value === "string") return redactNamed(name, value, text);
  if (typeof value !== "object" || value === null) return value;
  if (isList(value)) return value.map((item) => redactJson(item, text, name));
  return redactFields(value, text);
}

function isList(value: Json): value is readonly Json[] {
  return Array.isArray(value);
}

function redactFields(fields: { readonly [key: string]: Json }, text: RedactText): { [key: string]: Json } {
  return Object.fromEntries(
    Object.entries(fields).map(([key, value]) => [key, redactJson(value, text, key)]),
  );
}

/** In JSON, the name of a secret is separate from its value, so both are joined for the check. */
function redactNamed(name: string, value: string, text: RedactText): string {
  const clean = text(value);
  if (clean !== value || value.length > 512 || clean.includes(REDACTION_MARK)) return clean;
  const assigned = findAssigned(`${name}: "${value}"`);
  return assigned.length === 1 ? text(`${name}: "${value}"`).slice(name.length + 3, -1) : clean;
}

/** Idle time after which the worker is terminated. */
const IDLE_MS = 5_000;

/** Redacts texts in a worker thread, one list at a time. The worker starts with the first list. */
export class RedactionThread {
  readonly #queue = new SerialQueue();
  #worker: Worker | undefined;
  #idle: NodeJS.Timeout | undefined;

  /** Redacts texts in order; on this thread if the worker dies. Throws if `signal` aborts. */
  redact(texts: readonly string[], signal?: AbortSignal): Promise<readonly RedactedText[]> {
    return this.#queue.run(async () => {
      throwIfAborted(signal);
      const reply = await this.#ask(texts, signal);
      throwIfAborted(signal);
      return reply ? fromReply(texts, reply) : redactHere(texts, signal);
    });
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
  return new Worker(resolveModuleFile("server/gateway/thread/redact-worker"));
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
