import { randomUUID } from "node:crypto";
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import type { BenchMessage, Contestant, Conversation } from "./contestant.ts";

type Part =
  | { readonly type: "text"; readonly text: string }
  | { readonly type: "file"; readonly data: string; readonly mimeType: string };

interface MastraMessage {
  readonly id: string;
  readonly role: string;
  readonly createdAt: Date;
  readonly threadId: string;
  readonly resourceId: string;
  readonly content: { readonly format: 2; readonly parts: readonly Part[] };
}

interface Memory {
  getThreadById(query: { threadId: string }): Promise<unknown>;
  createThread(thread: { threadId: string; resourceId: string }): Promise<unknown>;
  saveMessages(batch: { messages: readonly MastraMessage[] }): Promise<unknown>;
  recall(query: { threadId: string; perPage: number }): Promise<{ messages: readonly MastraMessage[] }>;
}

interface Store {
  close(): Promise<void>;
}

interface MemoryModule {
  readonly Memory: new (config: { storage: Store; options: object }) => Memory;
}

interface LibSqlModule {
  readonly LibSQLStore: new (config: { id: string; url: string }) => Store;
}

const THREAD = { threadId: "bench", resourceId: "bench" };

/** Mastra's memory on its LibSQL store with message history only: no semantic recall, no working memory. */
export const mastra: Contestant = {
  name: "mastra",
  async open(folder) {
    // A bench must not report to a third party.
    process.env.MASTRA_TELEMETRY_DISABLED = "1";
    const { Memory } = (await import("@mastra/memory" as string)) as MemoryModule;
    const { LibSQLStore } = (await import("@mastra/libsql" as string)) as LibSqlModule;
    await mkdir(folder, { recursive: true });
    const storage = new LibSQLStore({ id: "bench", url: pathToFileURL(join(folder, "mastra.db")).href });
    const memory = new Memory({
      storage,
      options: { semanticRecall: false, workingMemory: { enabled: false } },
    });
    if (!(await memory.getThreadById({ threadId: THREAD.threadId }))) await memory.createThread(THREAD);
    return new MastraConversation(memory, storage);
  },
};

class MastraConversation implements Conversation {
  readonly #memory: Memory;
  readonly #storage: Store;
  #newestAtMs: number | undefined;

  constructor(memory: Memory, storage: Store) {
    this.#memory = memory;
    this.#storage = storage;
  }

  async append(message: BenchMessage): Promise<void> {
    await this.appendMany([message]);
  }

  async appendMany(messages: readonly BenchMessage[]): Promise<void> {
    await this.#save(messages.map(({ role, text }) => ({ role, parts: [{ type: "text", text }] })));
  }

  async appendImage(bytes: Uint8Array, mime: string): Promise<void> {
    const data = Buffer.from(bytes).toString("base64");
    await this.#save([{ role: "user", parts: [{ type: "file", data, mimeType: mime }] }]);
  }

  async last(count: number): Promise<readonly string[]> {
    const { messages } = await this.#memory.recall({ threadId: THREAD.threadId, perPage: count });
    return messages.map(textOf);
  }

  async close(): Promise<void> {
    await this.#storage.close();
  }

  async #save(messages: readonly { role: string; parts: readonly Part[] }[]): Promise<void> {
    // Mastra orders messages only by creation time in milliseconds. Like Mastra's agent, this adapter moves equal times
    // apart, starting from the newest stored message.
    let newestAtMs = this.#newestAtMs ?? (await this.#newestStoredAtMs());
    const stored = messages.map(({ role, parts }) => {
      newestAtMs = Math.max(Date.now(), newestAtMs + 1);
      return {
        id: randomUUID(),
        role,
        createdAt: new Date(newestAtMs),
        ...THREAD,
        content: { format: 2 as const, parts },
      };
    });
    this.#newestAtMs = newestAtMs;
    await this.#memory.saveMessages({ messages: stored });
  }

  async #newestStoredAtMs(): Promise<number> {
    const { messages } = await this.#memory.recall({ threadId: THREAD.threadId, perPage: 1 });
    return messages[0]?.createdAt.getTime() ?? 0;
  }
}

function textOf(message: MastraMessage): string {
  return message.content.parts.map((part) => (part.type === "text" ? part.text : "")).join("");
}
