import { BoundedMap } from "../../base/bounded-map.ts";
import { computeDigest } from "../../base/digest.ts";
import type { MessageInput } from "../../index.ts";
import { type RedactedText, redactSecrets } from "../../model/secrets/redact-secrets.ts";
import { redactInput } from "./redact-input.ts";
import { RedactionThread } from "./redaction-thread.ts";

/** If the new texts of a request have more characters in total, a worker redacts them. */
const MAX_INLINE_CHARACTERS = 262_144;
/** Minimum length of a text whose result is cached; redacting a shorter text is about as fast as hashing it. */
const MIN_KEPT_CHARACTERS = 16_384;
/** Maximum characters of cached texts; a text without secrets counts as `CLEAN_WEIGHT`. */
const MAX_KEPT_CHARACTERS = 33_554_432;
const CLEAN_WEIGHT = 100;
const BYTES_PER_CHARACTER = 2;

/** Setting and callback of a `Redactor`. */
interface RedactorOptions {
  readonly isOn: () => boolean;
  /** Called with the kind of each removed secret; not called again for a cached text. */
  readonly onFound: (kind: string) => void;
}

/** Removes secrets from messages; large ones are redacted in a worker, so that other requests do not wait. */
export class Redactor {
  readonly #options: RedactorOptions;
  readonly #thread = new RedactionThread();
  /** Messages that `prepare` has redacted, kept as long as their request. */
  readonly #prepared = new WeakMap<MessageInput, MessageInput>();
  /** Cache of results by the digest of a text; `text` is undefined for a text without secrets. */
  readonly #kept = new BoundedMap<string, { readonly text?: string }>({
    max: MAX_KEPT_CHARACTERS,
    weigh: ({ text }) => text?.length ?? CLEAN_WEIGHT,
  });

  constructor(options: RedactorOptions) {
    this.#options = options;
  }

  /** The message without its secrets. */
  redact(message: MessageInput): MessageInput {
    if (!this.#options.isOn()) return message;
    return this.#prepared.get(message) ?? this.#redactMessage(message, (text) => this.#redactText(text));
  }

  /**
   * Redacts messages in the worker if their new texts are large; `redact` then returns them. Rejects if aborted.
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
