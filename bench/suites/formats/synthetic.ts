import { closeSync, openSync, writeSync } from "node:fs";
import type { Corpus } from "../../corpus.ts";
import { Random } from "../../random.ts";

const START = Date.UTC(2026, 0, 1);

/**
 * Writes a Claude Code session of about `bytes`, shaped like real ones: prompts, thinking, tool calls, results, copies.
 */
export function writeSession(path: string, corpus: Corpus, bytes: number, seed = 1): void {
  const file = openSync(path, "w");
  try {
    const session = new SyntheticSession(corpus, seed);
    for (let written = 0; written < bytes; ) {
      const lines = session.turn().map((record) => `${JSON.stringify(record)}\n`);
      const text = lines.join("");
      writeSync(file, text);
      written += Buffer.byteLength(text);
    }
  } finally {
    closeSync(file);
  }
}

type Fields = Readonly<Record<string, unknown>>;

/** Generates turns of one conversation; each has a prompt and several rounds of reading and editing. */
class SyntheticSession {
  readonly #corpus: Corpus;
  readonly #random: Random;
  #records = 0;
  #messages = 0;
  #parent: string | null = null;

  constructor(corpus: Corpus, seed: number) {
    this.#corpus = corpus;
    this.#random = new Random(seed);
  }

  turn(): readonly Fields[] {
    const rounds = this.#random.between(2, 12);
    const prompt = this.#user(this.#text().slice(0, 400));
    return [prompt, ...Array.from({ length: rounds }, () => this.#round()).flat(), ...this.#answer()];
  }

  #round(): readonly Fields[] {
    const callId = `toolu_${this.#records}`;
    const path = `/repo/src/file-${this.#random.between(0, 400)}.ts`;
    const content = Array.from({ length: this.#random.between(1, 4) }, () => this.#text()).join("\n");
    const numbered = content.split("\n").map((line, index) => `${String(index + 1).padStart(6)}→${line}`);
    const lines = numbered.length;
    return [
      ...this.#assistant(
        { type: "thinking", thinking: this.#text().slice(0, 600), signature: "c2lnbmF0dXJl".repeat(30) },
        { type: "tool_use", id: callId, name: "Read", input: { file_path: path } },
      ),
      this.#user([{ type: "tool_result", tool_use_id: callId, content: numbered.join("\n") }], {
        toolUseResult: {
          type: "text",
          file: { filePath: path, content, numLines: lines, startLine: 1, totalLines: lines },
        },
      }),
    ];
  }

  #answer(): readonly Fields[] {
    return this.#assistant({ type: "text", text: this.#text() });
  }

  #assistant(...blocks: readonly Fields[]): readonly Fields[] {
    const id = `msg_${this.#messages++}`;
    const usage = {
      input_tokens: 12,
      cache_creation_input_tokens: 900,
      cache_read_input_tokens: 41_000,
      output_tokens: 310,
    };
    return blocks.map((block) =>
      this.#record("assistant", {
        requestId: `req_${id}`,
        message: {
          id,
          type: "message",
          role: "assistant",
          model: "claude-sonnet-4-5",
          content: [block],
          usage,
        },
      }),
    );
  }

  #user(content: unknown, more: Fields = {}): Fields {
    return this.#record("user", { message: { role: "user", content }, ...more });
  }

  #record(type: string, more: Fields): Fields {
    const uuid = `00000000-0000-4000-8000-${String(this.#records).padStart(12, "0")}`;
    const record = {
      parentUuid: this.#parent,
      isSidechain: false,
      userType: "external",
      cwd: "/repo",
      sessionId: "0198f0aa-0000-4222-8333-444455556666",
      version: "2.1.80",
      gitBranch: "main",
      type,
      uuid,
      timestamp: new Date(START + this.#records * 1_500).toISOString(),
      ...more,
    };
    this.#parent = uuid;
    this.#records++;
    return record;
  }

  #text(): string {
    return this.#corpus.message(this.#random.between(0, 1_000_000)).text;
  }
}
