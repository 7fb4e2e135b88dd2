/** Maximum messages to remember for rewinds. */
const MAX_MESSAGES = 2_000;

/** A message with the suffixes of its records' ids. */
export type OrderedMessage = readonly [id: string, suffixes: readonly string[]];

/** The remembered messages of the line, oldest first. */
export class MessageOrder {
  #messages: OrderedMessage[];
  #isCut: boolean;

  constructor(messages: readonly OrderedMessage[] = [], isCut = false) {
    this.#messages = [...messages];
    this.#isCut = isCut;
  }

  /** True if the line has older messages that are not remembered. */
  get isCut(): boolean {
    return this.#isCut;
  }

  get messages(): readonly OrderedMessage[] {
    return this.#messages;
  }

  /** Id of the last record; null if none. */
  get last(): string | null {
    return getLastRecord(this.#messages.at(-1));
  }

  /** Returns the ids of all records on the line. */
  records(): readonly string[] {
    return this.#messages.flatMap(([id, suffixes]) => suffixes.map((suffix) => id + suffix));
  }

  /** Appends a message, or replaces its older version in place; returns its position. */
  place(message: OrderedMessage): "new" | "last" | "earlier" {
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

  /** Removes a message and all after it; returns the last record then, or undefined if the message is unknown. */
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

function getLastRecord(message: OrderedMessage | undefined): string | null {
  return message ? message[0] + (message[1].at(-1) ?? "") : null;
}
