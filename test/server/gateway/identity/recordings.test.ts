import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import type { MessageInput } from "../../../../src/kernel/index.ts";
import { buildCanonicalKey } from "../../../../src/server/gateway/identity/canonical-key.ts";
import {
  detectClient,
  findExplicitId,
  findNamedClient,
} from "../../../../src/server/gateway/identity/conversation-keys.ts";
import type { Wire, WireObject } from "../../../../src/wire/wire.ts";
import { WIRES } from "../../../../src/wire/wires.ts";
import { type Asked, Registry } from "./registry.ts";

const folder = process.env.LONGHAUL_DATA
  ? join(process.env.LONGHAUL_DATA, "..", "recordings")
  : "../shared/recordings";

interface Recording {
  readonly url: string;
  readonly headers: { readonly [name: string]: string };
  readonly body: WireObject;
  readonly response: {
    readonly status: number;
    readonly sse?: readonly unknown[];
    readonly truncated?: boolean;
  };
}

const filesIn = (path: string) => (existsSync(path) ? readdirSync(path).sort() : []);
const foldersIn = (path: string) => filesIn(path).filter((name) => !name.includes("."));
const sessions = foldersIn(folder).flatMap((client) =>
  foldersIn(join(folder, client)).map((scenario) => [client, scenario] as const),
);

function recordingsOf(client: string, scenario: string): readonly Recording[] {
  const path = join(folder, client, scenario);
  return filesIn(path)
    .filter((name) => name.endsWith(".json"))
    .map((name) => JSON.parse(readFileSync(join(path, name), "utf8")));
}

const apiFor = ({ url }: Recording) => WIRES.find(({ path }) => url.includes(path)) as Wire;
const listOf = (value: unknown) => (Array.isArray(value) ? (value as readonly WireObject[]) : []);
const textIn = (value: unknown): string =>
  typeof value === "string"
    ? value
    : listOf(value)
        .map(({ text }) => String(text ?? ""))
        .join("\n");

function askedOf(recording: Recording): Asked {
  const { headers, body } = recording;
  const api = apiFor(recording);
  const elements = listOf(body[api.messagesField]);
  const first = elements.findIndex((element) => !api.isLead(element));
  const leads = [
    ...api.leadFields.map((field) => textIn(body[field])),
    ...elements.slice(0, first).map(({ content }) => textIn(content)),
  ];
  const found = findExplicitId({ headers, fields: body });
  const names = listOf(body.tools).map((tool) => String(tool.name ?? (tool.function as WireObject)?.name));
  return {
    messages: api.decode(elements.slice(first)).map(({ input }) => input),
    lead: leads.join("\n"),
    toolNames: names,
    explicit: found?.id,
    agent: found?.agent,
    purpose: found?.purpose,
  };
}

function replyOf(recording: Recording): MessageInput | undefined {
  const { status, sse, truncated } = recording.response;
  if (status !== 200 || truncated) return undefined;
  const reader = apiFor(recording).createReader();
  for (const event of sse ?? [])
    reader.take({ data: typeof event === "string" ? event : JSON.stringify(event) });
  return reader.message();
}

describe.skipIf(sessions.length === 0)("recordings of real clients", () => {
  test.each(sessions)(
    "a recording of %s %s has one main thread next to titles and summaries",
    (client, scenario) => {
      const registry = new Registry();
      for (const recording of recordingsOf(client, scenario)) {
        const thread = registry.ask(askedOf(recording));
        registry.answer(thread, replyOf(recording));
      }
      const kinds = registry.threads.map(({ kind }) => kind);
      expect(kinds.filter((kind) => kind === "main")).toHaveLength(1);
      expect(kinds.includes("title")).toBe(client === "opencode");
      expect(kinds.includes("compaction")).toBe(scenario === "err-ctx-once");
      expect(kinds.filter((kind) => kind === "agent" || kind === "aside" || kind === "probe")).toEqual([]);
    },
  );

  test("all recordings at once have one main thread each, with or without ids", () => {
    const plain = sessions.filter(([, scenario]) => !/err-(ctx|trunc)/.test(scenario));
    for (const hasIds of [true, false]) {
      const registry = new Registry();
      const all = plain.map(([client, scenario]) => recordingsOf(client, scenario));
      const longest = Math.max(...all.map(({ length }) => length));
      for (let at = 0; at < longest; at++) {
        const asked = all.flatMap((recordings) => recordings.slice(at, at + 1));
        const threads = asked.map((recording) => {
          const { explicit, agent, ...rest } = askedOf(recording);
          return registry.ask(hasIds ? { ...rest, explicit, agent } : rest);
        });
        for (const [index, recording] of asked.entries())
          registry.answer(threads[index] as (typeof threads)[number], replyOf(recording));
      }
      expect(registry.threads.filter(({ kind }) => kind === "main")).toHaveLength(plain.length);
      expect(registry.threads.filter(({ kind }) => kind === "agent")).toEqual([]);
    }
  });

  test.each(sessions)("a recording of %s %s repeats earlier messages in each request", (client, scenario) => {
    let before: readonly string[] = [];
    for (const recording of recordingsOf(client, scenario)) {
      const { messages, toolNames = [] } = askedOf(recording);
      const keys = messages.map((message) => buildCanonicalKey(message));
      const isGrown = toolNames.length > 0 && keys[0] === before[0] && keys.length > before.length;
      if (isGrown) expect(keys.slice(0, before.length)).toEqual(before);
      before = keys;
    }
  });

  test.each(sessions)("a recording of %s %s is attributed to its client", (client, scenario) => {
    const main = recordingsOf(client, scenario).findLast(({ body }) => listOf(body.tools).length > 0);
    expect(main && (detectClient(main.headers) ?? findNamedClient(askedOf(main).lead ?? ""))).toBe(client);
  });
});
