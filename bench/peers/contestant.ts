/** One message of a bench conversation. */
export interface BenchMessage {
  readonly role: "user" | "assistant";
  readonly text: string;
}

/** A system that can store a conversation in a folder. */
export interface Contestant {
  readonly name: string;
  /** Opens (or reopens, in a fresh process) the single conversation of `folder`. */
  open(folder: string): Promise<Conversation>;
}

/** One open conversation of a contestant. */
export interface Conversation {
  /** Resolves when the system reports the message as stored. */
  append(message: BenchMessage): Promise<void>;
  /** Appends several messages with the system's own batch call, if it has one. */
  appendMany?(messages: readonly BenchMessage[]): Promise<void>;
  /** Attaches an image as the system's users would (base64 in the message). */
  appendImage?(bytes: Uint8Array, mime: string): Promise<void>;
  /** Texts of the newest `count` messages, oldest first, by the cheapest way the system offers. */
  last(count: number): Promise<readonly string[]>;
  close(): Promise<void>;
}
