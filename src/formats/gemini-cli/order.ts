/** Messages that can be gone back to. */
const MAX_MESSAGES = 2_000;

/** A message and what its last record is called behind its id. */
export type Placed = readonly [id: string, suffixes: readonly string[]];

/** The messages on the line, oldest first, as far as they are remembered. */
export class Order {
  #messages: Placed[];
  #isCut: boolean;

  constructor(messages: readonly Placed[] = [], isCut = false) {
    this.#messages = [...messages];
    this.#isCut = isCut;
  }

  /** True if older messages than those remembered are on the line. */
  get isCut(): boolean {
    return this.#isCut;
  }

  get messages(): readonly Placed[] {
    return this.#messages;
  }

  /** The id of the last record; null for none. */
  get last(): string | null {
    return lastOf(this.#messages.at(-1));
  }

  /** Every record on the line. */
  records(): readonly string[] {
    return this.#messages.flatMap(([id, suffixes]) => suffixes.map((suffix) => id + suffix));
  }

  /** Puts a message at the end, or the new version of a message in its place; tells where it stands. */
  place(message: Placed): "new" | "last" | "earlier" {
    const index = this.#messages.findLastIndex(([id]) => id === message[0]);
    if (index >= 0) {
      this.#messages[index] = message;
      return index === this.#messages.length - 1 ? "last" : "earlier";
    }
    this.#messages.push(message);
    if (this.#messages.length > MAX_MESSAGES) {
      this.#messages.shift();
      this.#isCut = true;
    }
    return "new";
  }

  /** Takes a message and all after it away; the record that is last then, or undefined if the message is not known. */
  rewindTo(message: string): string | null | undefined {
    const index = this.#messages.findIndex(([id]) => id === message);
    if (index < 0 || (index === 0 && this.#isCut)) return undefined;
    this.#messages.length = index;
    return this.last;
  }

  clear(): void {
    this.#messages = [];
    this.#isCut = false;
  }
}

function lastOf(message: Placed | undefined): string | null {
  return message ? message[0] + (message[1].at(-1) ?? "") : null;
}
