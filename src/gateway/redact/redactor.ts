import { hash } from "node:crypto";
import type { MessageInput } from "../../index.ts";
import { BoundedCache } from "../../model/bounded-cache.ts";
import { type RedactedText, redactSecrets } from "../../model/secrets/redact-secrets.ts";
import { redactInput } from "./redact-input.ts";
import { RedactionThread } from "./redaction-thread.ts";

/** New texts of one request that are longer than this in sum are redacted in a worker. */
const MAX_INLINE_CHARACTERS = 262_144;
/** Results of texts from this length on are remembered: redacting a shorter one takes hardly longer than its digest. */
const MIN_KEPT_CHARACTERS = 16_384;
/** Characters of redacted texts that are remembered; a text without secrets counts for this many. */
const MAX_KEPT_CHARACTERS = 33_554_432;
const CLEAN_WEIGHT = 100;

/** What redaction in a gateway is told, and tells. */
export interface RedactorOptions {
  readonly isOn: () => boolean;
  /** Told the kind of each secret that was taken out; not again for a text that comes again. */
  readonly onFound: (kind: string) => void;
}

/** Takes secrets out of messages; a large request is redacted in a worker, so that others need not wait. */
export class Redactor {
  readonly #options: RedactorOptions;
  readonly #thread = new RedactionThread();
  /** Messages that `prepare` has redacted, as long as their request lasts. */
  readonly #prepared = new WeakMap<MessageInput, MessageInput>();
  /** By the digest of a text, so that one that comes again is not searched again; undefined if it has no secret. */
  readonly #kept = new BoundedCache<string, { readonly text?: string }>({ maxWeight: MAX_KEPT_CHARACTERS });

  constructor(options: RedactorOptions) {
    this.#options = options;
  }

  /** The message without its secrets. */
  redact(message: MessageInput): MessageInput {
    if (!this.#options.isOn()) return message;
    return this.#prepared.get(message) ?? this.#redactMessage(message, (text) => this.#redactText(text));
  }

  /**
   * Redacts messages in the worker if their new texts are large, so that `redact` finds them done. Throws if `signal` fires.
   */
  async prepare(messages: readonly MessageInput[], signal?: AbortSignal): Promise<void> {
    if (!this.#options.isOn()) return;
    const texts = textsOf(messages).filter((text) => this.#findKept(text) === undefined);
    const characters = texts.reduce((sum, text) => sum + text.length, 0);
    if (characters <= MAX_INLINE_CHARACTERS) return;
    const redacted = await this.#thread.redact(texts, signal);
    const results = new Map(redacted.map((one, index) => [texts[index] as string, one]));
    for (const [text, one] of results) this.#keep(text, one);
    const redactText = (text: string) => results.get(text) ?? this.#redactText(text);
    for (const message of messages) this.#prepared.set(message, this.#redactMessage(message, redactText));
  }

  /** Ends the worker. */
  close(): Promise<void> {
    return this.#thread.close();
  }

  #redactMessage(message: MessageInput, redactText: (text: string) => RedactedText): MessageInput {
    const { message: clean, found } = redactInput(message, redactText);
    for (const kind of found) this.#options.onFound(kind);
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
    const kept = this.#kept.get(hash("sha256", text));
    return kept && { text: kept.text ?? text, found: [] };
  }

  #keep(text: string, { text: clean, found }: RedactedText): void {
    if (text.length < MIN_KEPT_CHARACTERS) return;
    const isClean = found.length === 0;
    this.#kept.set(
      hash("sha256", text),
      isClean ? {} : { text: clean },
      isClean ? CLEAN_WEIGHT : clean.length,
    );
  }
}

/** The texts of messages that redaction would look at, each once. */
function textsOf(messages: readonly MessageInput[]): readonly string[] {
  const texts = new Set<string>();
  for (const message of messages)
    redactInput(message, (text) => {
      texts.add(text);
      return { text, found: [] };
    });
  return [...texts];
}
