import type { BodyInput } from "../../kernel/faces/log.ts";
import type { Entry, MessageInput } from "../../kernel/index.ts";

/** Changed messages for each one that stayed the same: clients shorten and rewrite earlier messages. */
const MAX_CHANGED = 8;

/**
 * Compares the records of a session with those of the same ids in a file, to tell whether both are one conversation: it
 * begins with the same words of a person, wherever its file lies, and some later message is still the same.
 */
export class RecordComparison {
  #isBegun = false;
  #isOtherBeginning = false;
  #same = 0;
  #changed = 0;

  /** Adds a record; of these, words of people and replies of models are compared. */
  add(known: Entry | BodyInput, offered: BodyInput | Entry): void {
    if (known.kind !== "message" || offered.kind !== "message") return;
    const { role } = offered.message;
    if (role !== "user" && role !== "assistant") return;
    const [one, other] = [known, offered].map(({ message }) => readWords(message as MessageInput));
    if (!one || !other) return;
    // A message that was still being written begins like the whole one.
    const isSame = known.message.role === role && (one.startsWith(other) || other.startsWith(one));
    if (role === "user" && !this.#isBegun) {
      this.#isBegun = true;
      this.#isOtherBeginning = !isSame;
    } else if (isSame) this.#same++;
    else this.#changed++;
  }

  /** True if the records are those of another conversation. */
  get areOthers(): boolean {
    return this.#isOtherBeginning || this.#changed > this.#same * MAX_CHANGED;
  }
}

function readWords({ text, parts = [] }: MessageInput): string {
  const texts = [text ?? "", ...parts.map((part) => (part.type === "text" ? part.text : ""))];
  return texts.join(" ").replace(/\s+/g, " ").trim();
}
