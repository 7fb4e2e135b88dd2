import { join } from "node:path";
import { expect, test } from "vitest";
import type { CopyRegister } from "../../../src/histories/importing/copies.ts";
import { importSource } from "../../../src/histories/importing/import-source.ts";
import type { Format } from "../../../src/histories/port/format.ts";
import type { RecordItem } from "../../../src/histories/reading/item.ts";
import { testFolder } from "../../support/folder.ts";
import { testKernel } from "../../support/kernel.ts";

const COPIED_AT = 1_000;

function record(id: string, at: number, child?: string): RecordItem {
  const body = { kind: "message", message: { role: "user", text: `Words of ${id}.` } } as const;
  return { type: "record", id, at, body, ...(child !== undefined && { child }) };
}

test("records that an agent adds to a copy go to the copied conversation, with new sub-agents, once", async () => {
  const kernel = await testKernel();
  await (await kernel.session("ticket", { meta: { source: { path: "/elsewhere.jsonl" } } })).close();
  const root = testFolder();
  const path = join(root, "copy.jsonl");
  const source = {
    format: "codex",
    id: "copy",
    path,
    paths: [path],
    sizeBytes: 1,
    modifiedAt: 2_000,
  } as const;
  const format: Format = {
    name: "codex",
    title: "Codex",
    processes: [],
    homes: () => [],
    detect: async () => [source],
    async *read() {
      yield record("copied", 900);
      yield record("copied helper", 950, "helper");
      yield record("added", 1_500);
      yield record("added helper", 1_600, "helper");
    },
  };
  const copy = { session: "ticket", format: "codex", id: "copy", path, until: COPIED_AT };
  const copies = { find: async () => copy } as unknown as CopyRegister;
  const run = () => importSource(kernel, { source, format, root }, { copies });
  expect(await run()).toMatchObject({ session: "ticket", status: "imported", added: { messages: 2 } });
  expect(await run()).toMatchObject({ session: "ticket", status: "unchanged" });
  expect(await kernel.find("codex/copy")).toBeUndefined();
  expect(await kernel.find("codex/copy/helper")).toMatchObject({ parent: "ticket" });
});
