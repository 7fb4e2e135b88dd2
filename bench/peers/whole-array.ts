import { mkdir, readFile, rename, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { BenchMessage, Contestant, Conversation } from "./contestant.ts";

type Block =
  | { readonly type: "text"; readonly text: string }
  | { readonly type: "image"; readonly source: ImageSource };

interface ImageSource {
  readonly type: "base64";
  readonly media_type: string;
  readonly data: string;
}

interface StoredMessage {
  readonly role: "user" | "assistant";
  readonly content: readonly Block[];
  readonly ts: number;
}

/** The pattern of Roo-Code: one JSON array in memory, rewritten to disk on every message. */
export const wholeArray: Contestant = {
  name: "whole-array",
  async open(folder) {
    await mkdir(folder, { recursive: true });
    const path = join(folder, "conversation.json");
    return new WholeArrayConversation(path, await readMessages(path));
  },
};

async function readMessages(path: string): Promise<StoredMessage[]> {
  try {
    return JSON.parse(await readFile(path, "utf8")) as StoredMessage[];
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return [];
    throw error;
  }
}

class WholeArrayConversation implements Conversation {
  readonly #path: string;
  readonly #messages: StoredMessage[];

  constructor(path: string, messages: StoredMessage[]) {
    this.#path = path;
    this.#messages = messages;
  }

  async append(message: BenchMessage): Promise<void> {
    await this.appendMany([message]);
  }

  async appendMany(messages: readonly BenchMessage[]): Promise<void> {
    for (const { role, text } of messages) {
      this.#messages.push({ role, content: [{ type: "text", text }], ts: Date.now() });
    }
    await this.#save();
  }

  async appendImage(bytes: Uint8Array, mime: string): Promise<void> {
    const data = Buffer.from(bytes).toString("base64");
    const image: Block = { type: "image", source: { type: "base64", media_type: mime, data } };
    this.#messages.push({ role: "user", content: [image], ts: Date.now() });
    await this.#save();
  }

  async last(count: number): Promise<readonly string[]> {
    return this.#messages.slice(-count).map(textOf);
  }

  async close(): Promise<void> {
    // Every append has already written a complete file.
  }

  async #save(): Promise<void> {
    const temporaryPath = `${this.#path}.new`;
    await writeFile(temporaryPath, JSON.stringify(this.#messages));
    await rename(temporaryPath, this.#path);
  }
}

function textOf(message: StoredMessage): string {
  return message.content.map((block) => (block.type === "text" ? block.text : "")).join("");
}
