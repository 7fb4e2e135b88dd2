/** One message of a bench conversation. */
export interface BenchMessage {
  readonly role: "user" | "assistant";
  readonly text: string;
}

/** A system that can keep a conversation in a folder. */
export interface Contestant {
  readonly name: string;
  /** Opens (or reopens, in a fresh process) the one conversation kept in `folder`. */
  open(folder: string): Promise<Conversation>;
}

/** One open conversation of a contestant. */
export interface Conversation {
  /** Resolves when the system itself calls the message stored. */
  append(message: BenchMessage): Promise<void>;
  /** Appends several messages the way the system's users would do in one go, where it has such a call. */
  appendMany?(messages: readonly BenchMessage[]): Promise<void>;
  /** Attaches an image the way the system's users would (base64 in the message). */
  appendImage?(bytes: Uint8Array, mime: string): Promise<void>;
  /** Texts of the newest `count` messages, oldest first, the cheapest way the system offers. */
  last(count: number): Promise<readonly string[]>;
  close(): Promise<void>;
}
